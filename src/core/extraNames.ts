// The keys of `extra` that Tollgate sets, in lower case. Its value replaces a merchant's value of the same name.
export const ownExtraNames: ReadonlySet<string> = new Set(
  'channel wallet_issuer_hint email mobile_no name card_type psp_response_code psp_response_msg'.split(' '),
)

export const isOwnExtraName = (name: string) => ownExtraNames.has(name) || name === 'Mobile_no'
