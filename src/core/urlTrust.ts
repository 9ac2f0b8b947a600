// Who chose an address decides how a request reaches it. The types keep the two kinds apart at compile time.
declare const chosenBy: unique symbol

// Chosen by a merchant or a customer, in a request, a setting or a page. The address guard (src/net/addressGuard.ts) is
// on for every request to it. A plain string is accepted as one: an address of unknown origin is guarded too.
export type UntrustedUrl = string & { readonly [chosenBy]?: 'merchant or customer' }

// Chosen by the operator, in a setting: the base URL of a provider or of an SMS gateway. It may lead into the operator's
// own network, so the guard is off. Only `operatorUrl` and `withPath` make one.
export type OperatorUrl = string & { readonly [chosenBy]: 'operator' }

// `never` for an UntrustedUrl, so that it does not compile as the argument of `operatorUrl`.
type OperatorText<Text> = typeof chosenBy extends keyof Text ? never : Text

// Only files that read a setting of the operator may call this; test/layers.test.ts lists them.
export const operatorUrl = <Text extends string>(text: Text & OperatorText<Text>): OperatorUrl =>
  text as string as OperatorUrl

// The host stays the operator's, whatever the path contains.
export function withPath(base: OperatorUrl, path: string): OperatorUrl {
  if (!/^[/?]/.test(path)) throw new Error('a path begins with / or ?')
  return (base.replace(/\/+$/, '') + path) as OperatorUrl
}
