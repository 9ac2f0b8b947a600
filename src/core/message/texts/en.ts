// Every sentence of a message to a customer, in English. A word in {braces} is filled in: leave it as it is, and put it
// where your language wants it. To add a language, translate this file and name it in `languages.ts`.
export const en = {
  locale: 'en-GB', // how dates are written
  dir: 'ltr',
  somebody: 'the shop', // whose name a phone cannot show

  // The forms of an SMS, the fullest first. It is one segment of 160 characters, so write short; a phone that pays by the
  // message is charged for each. The last form is for a link that leaves no room for anything else.
  sms: {
    paid: [
      'Paid {amount} to {shop}. Ref {reference}. Receipt: {link}',
      'Paid {amount} to {shop}. Ref {reference} {link}',
      'Paid {amount} to {shop} {reference} {link}',
      'Paid {amount} to {shop}. Ref {reference}',
    ],
    failed: [
      'Not paid: {amount} to {shop}. Ref {reference}. See why: {link}',
      'Not paid: {amount} to {shop}. Ref {reference} {link}',
      'Not paid {amount} to {shop} {reference} {link}',
      'Not paid: {amount} to {shop}. Ref {reference}',
    ],
    cancelled: [
      'Cancelled: {amount} to {shop}. Ref {reference}. Details: {link}',
      'Cancelled: {amount} to {shop}. Ref {reference} {link}',
      'Cancelled {amount} to {shop} {reference} {link}',
      'Cancelled: {amount} to {shop}. Ref {reference}',
    ],
  },

  subjects: {
    paid: 'Paid: {amount} to {shop}',
    failed: 'Not paid: {amount} to {shop}',
    cancelled: 'Cancelled: {amount} to {shop}',
  },

  mail: {
    test: 'TEST: no real money moved',
    paid: 'Paid',
    paid_words: 'Your payment to {shop} is complete.',
    cancelled: 'Cancelled',
    cancelled_words: 'This payment was cancelled.',
    nothing_taken: 'Nothing was taken.',
    late: 'If the money still arrives, it counts as paid, and {shop} is told.',
    try_again: 'As long as the payment is open, you can try again or pay another way on its page.',
    start_again: 'To pay after all, go back to {shop} and start again.',
    keep_reference: 'A person looked into it. If you have a question, keep the reference.',
    see_receipt: 'See the receipt',
    see_payment: 'See the payment',
    why_you: 'You get this mail because this address was given for the payment.',
    pin: 'Never tell anyone your PIN: we do not ask for it.',
    secured: 'Secured by Tollgate',
  },

  facts: {
    paid_to: 'Paid to',
    to: 'To',
    description: 'For',
    invoice: 'Invoice',
    paid_with: 'Paid with',
    tried_with: 'Tried with',
    when: 'When',
    reference: 'Reference',
  },

  names: { card: 'Card' },

  // As the checkout page says it.
  reasons: {
    insufficient_funds: 'Not paid: not enough money in the account',
    declined: 'Not paid: it was declined on the phone',
    not_completed: 'Not paid: you turned back at the card page',
    no_answer: 'Not paid: the request was not approved in time',
    withdrawn: 'Not paid: the request was withdrawn',
    limit_reached: 'Not paid: a limit of the account was reached',
    no_wallet: 'Not paid: this number has no wallet on this network',
    wallet_blocked: 'Not paid: the wallet is not active',
    wrong_voucher: 'Not paid: the voucher code was not accepted',
    network_error: 'Not paid: the network had a problem',
    card_declined: 'Not paid: your bank did not accept the card',
    card_expired: 'Not paid: the card has expired',
    wrong_cvv: 'Not paid: the security code was not right',
    not_authenticated: 'Not paid: your bank’s check was not passed',
    refused: 'Not paid: the provider refused',
    never_arrived: 'Not paid: the request did not get through',
    not_sent: 'Not paid: the provider could not be reached',
    given_up: 'Not paid: this try was closed',
    expired: 'Not paid: the time to pay is over',
    cancelled: 'Not paid: it was cancelled',
  },
}

export type LetterTexts = typeof en
