// Reasons of failures: a code, and the sentence for the merchant. The customer's sentences are in the language files under
// the same code.
export const reasons = {
  insufficient_funds: 'Not enough money in the account.',
  declined: 'The customer declined on the phone.',
  not_completed: 'The customer turned back at the card page.',
  no_answer: 'The customer did not approve in time.',
  withdrawn: 'The customer withdrew the request.',
  limit_reached: 'A limit of the account was reached.',
  no_wallet: 'The number has no wallet on this network.',
  wallet_blocked: 'The wallet is not active.',
  wrong_voucher: 'The voucher code was not accepted.',
  network_error: "The provider lost its connection to the customer's network.",
  card_declined: "The customer's bank did not honour the card.",
  card_expired: 'The card has expired.',
  wrong_cvv: 'The CVV of the card was wrong.',
  not_authenticated: 'The customer did not pass the 3-D Secure step.',
  refused: 'The provider refused the payment.',
  provider_error: 'The provider could not carry out the payment.',
  account_trouble: "The provider does not accept the operator's account or its settings.",
  reversed: 'The provider reversed the charge before it was reported paid.',
  never_arrived: 'The request never reached the provider.',
  not_sent: 'The provider could not be reached. Nothing was sent.',
  given_up: 'A person closed the attempt after looking into it.',
  expired: 'The checkout expired before it was paid.',
  cancelled: 'The customer cancelled.',
} as const

export type Reason = keyof typeof reasons
