// A program for each language.
export type SampleCodes = { curl: string; node: string; php: string; python: string }

export const hmacInShell = (text: string) =>
  `$(printf %s "${text}" | openssl dgst -sha256 -hmac "$TOLLGATE_MERCHANT_SECRET" | sed 's/.* //')`
