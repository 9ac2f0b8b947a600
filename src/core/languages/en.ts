// Every text that a customer reads, in English: on the payment's pages, in messages and on the sandbox's pages. A word
// in {braces} is a placeholder: keep its name, and put it where the language needs it. docs/languages.md explains how
// to add a language.
export const en = {
  name: 'English', // of the language, in that language
  locale: 'en-GB', // how dates and amounts are written
  dir: 'ltr',

  frame: {
    test: 'Test mode: no real money moves',
    copy: 'A copy of the payment system: real payments are not taken here',
    invoice: 'Invoice',
    left: '{time} left',
    more: 'More',
    less: 'Less',
    reference: 'Reference {reference}',
    request: 'Request {request}',
    secured: 'Secured by Tollgate',
    language: 'Language',
    hours: '{count} hours',
    days: '{count} days',
    lost: 'Connection lost. We keep trying to reconnect.',
    back: 'Connected again.',
    one_moment: 'One moment',
  },

  // The header of the pages around the checkout.
  site: {
    pages: 'Pages',
    menu: 'Menu',
    shop: 'Shop',
    phone: 'Test phone',
    inbox: 'Inbox',
    support: 'Support',
    docs: 'Docs',
  },

  // The items that the shop lists.
  items: { title: 'What you are paying for', times: '{quantity} ×', total: 'Total' },

  // How to reach the shop.
  branding: {
    questions: 'Questions?',
    terms: 'Terms',
    ask: 'Questions? Ask {shop} and name the reference {reference}.',
  },

  choose: {
    title: 'Pay {amount}',
    pay_to: 'Pay {amount} to {shop}',
    how: 'How would you like to pay?',
    pay: 'Pay {amount}',
    cancel: 'Cancel this payment',
    optional: '(optional)',
    next_prompt: 'Your phone will ask you to approve {amount}.',
    next_redirect: 'Next you type your card on our partner’s page. We never see its number.',
    next_qr: 'Next we show you a code to scan.',
    on_file: 'Pay from {number}',
    other_number: 'Use another number',
    keep_number: 'Leave this empty to pay from {number}.',
    guess_same: 'Looks like {method}. If not, choose above.',
    guess_other: 'This looks like a number of {method}.',
    guess_switch: 'Pay with {method} instead',
    again_in: 'You can try again in {seconds} seconds.',
    none_available: 'No payment method is available right now. Please wait a moment.',
    phone_title: 'On your phone instead?',
    phone_text: 'Scan to go on there. This page follows.',
  },

  names: { card: 'Card' },

  // Beside the name of a payment method: by its wire name, or by what happens next.
  method_notes: {
    redirect: 'on our partner’s page',
    qr: 'with your bank’s app',
    card: 'Visa or Mastercard',
  },

  // In place of the name and note of a payment method whose provider has problems.
  health: {
    degraded: '{method} is slow right now',
    down: '{method} is not answering right now',
  },

  fields: {
    phone: { label: 'Your mobile money number', hint: '{example}, {code}... or +{code}...' },
    voucher_code: {
      label: 'Voucher code',
      hint: 'Dial *110# on your Telecel phone and choose to generate a voucher. You get a code to type here.',
    },
    email: { label: 'Your email address', hint: 'The payment provider asks for it.' },
    otp: { label: 'The code that was sent to you', hint: 'It is in a message on your phone.' },
    birthday: { label: 'Your date of birth' },
  },

  faults: {
    title: 'Please check one thing',
    title_many: 'Please check {count} things',
    in_title: 'Check the form',
    no_method: 'Choose how you would like to pay.',
    method_gone: 'This payment method is not available now. Choose another one.',
    missing: '{label}: please fill this in.',
    not_a_phone: '{label}: this is not a complete number. Write it like {example}.',
    not_a_wallet:
      'This number cannot have a wallet of {method}. Use a mobile number of {country}, like {example}.',
    not_digits: '{label}: use digits only.',
    too_long: '{label}: this is too long.',
    not_an_email: '{label}: this is not an email address. Write it like ama@example.com.',
    not_a_date: '{label}: this is not a date.',
    not_text: '{label}: use plain letters and digits.',
    too_soon: 'Wait {seconds} seconds, then try again.',
    too_many: 'Too many tries have failed. Wait {minutes} min, or pay another way.',
  },

  // The provider asks for input before it continues.
  step: {
    title: 'One more step',
    text: '{method} needs this to go on with your payment of {amount}.',
    provider_text: '{method} says:',
    again: '{method} asks again. Check what you type.',
    tries_left: 'Tries left: {count}.',
    wait: 'Please take a moment: you can send the next one in {seconds} seconds.',
    none_left: 'No more tries for this request',
    none_left_text:
      'For your safety, nothing more can be entered for this request. {method} has not said yet whether it was paid. If it was, it counts: do not pay again until we know.',
    none_left_then:
      'As soon as this request has ended, you can choose how to pay again. This page updates by itself.',
    go_on: 'Continue',
    never_pin: 'Never type your wallet’s PIN here. Only your phone may ask for it.',
  },

  wait: {
    prompt: 'Enter your PIN on your phone',
    asks: '{method} is asking {number} to pay {amount} to {shop}.',
    asks_somewhere: '{method} is asking your phone to pay {amount} to {shop}.',
    never_pin: 'Never tell anyone your PIN.',
    message: 'Pay {amount} to {shop}? Enter your PIN to approve.', // as the drawn phone shows it
    dial: 'Dial {code} on your phone.',
    dial_steps: 'Dial {code}, then {steps}.',
    dial_unknown: 'Open your wallet’s menu on your phone and look for your approvals.',
    redirect: 'Continue on the card page',
    redirect_text: 'Pay on our partner’s page, then come back here.',
    forward: 'Opening the card page',
    confirming: 'Have you paid there already? Then we are confirming it with the provider. Do not pay again.',
    to_card: 'Continue to the card page',
    qr: 'Scan to pay',
    qr_text: 'Scan with your bank or wallet app, and check that it says {amount}.',
    bank: 'We are asking your bank',
    bank_text: 'We do not know the result yet. Do not pay again: we keep checking.',
    ends: {
      prompt: 'Time left',
      redirect: 'The card page closes in',
      qr: 'The code ends in',
    },
    over: {
      prompt: 'The request has ended. We are asking {method} whether it was approved.',
      redirect: 'The card page has closed. We are asking your bank whether you paid there.',
      qr: 'The code has ended. We are asking {method} whether it was paid.',
    },
    counts: {
      prompt: 'If the first request is approved after all, it counts, and nothing else is taken.',
      redirect: 'If you pay on the card page after all, it counts, and nothing else is taken.',
      qr: 'If you pay by this code after all, it counts, and nothing else is taken.',
    },
    ending: 'The old request is ending',
    ending_text: 'We are ending the request to {number}. If you approve it on that phone, it counts.',
    ending_somewhere: 'We are ending the old request. If you approve it after all, it counts.',
    go_on: 'Otherwise you can go on at about {time}. This page updates by itself.',
    go_on_then: 'If it was not, you can go on. This page updates by itself.',
    old_ended: 'The old request has ended. Nothing was taken.',
    qr_here:
      'Is the app on this phone? Save the code. Then open your bank’s or wallet’s app and choose to scan from the gallery.',
    qr_save: 'Save the code',
    unknown: 'We are asking {method}',
    unknown_text: 'We have not heard back from {method} yet. Do not pay again: we keep checking.',
    may_leave: 'You can close this page. We keep checking.',
    may_leave_text: 'You can close this page. We text you when it is paid.',
    back: 'Go back to {shop}',
    check_again: 'Check again now',
    test_phone: 'Open the test phone',
    test_phone_title: 'Test phone',
    test_phone_text: 'Any PIN pays. Cancel declines.',
  },

  // What a customer can do who does not want to wait, or waits in vain: each with a sentence and a button.
  problem: {
    title: 'Problem?',
    no_message: { title: 'No message came', button: 'Dial' },
    number: {
      title: 'Wrong number',
      text: 'We ask another phone instead.',
      button: 'Change',
      in_summary: 'Wrong number',
    },
    method: { title: 'Another way to pay', button: 'Choose', in_summary: 'another way' },
    unfinished: {
      title: 'I did not finish there',
      text: 'Open the card page again and pay.',
      button: 'Go on',
      in_summary: 'not finished',
    },
    check: {
      title: 'I have paid already',
      text: 'The answer can take a minute. Do not pay again.',
      button: 'Check',
      in_summary: 'check again',
    },
    cancel: {
      title: 'Do not pay',
      prompt: 'Nothing is taken unless you enter your PIN.',
      redirect: 'Nothing is taken unless you pay on the card page.',
      qr: 'Nothing is taken unless you pay by the code.',
      unclear: 'If the money still arrives, it counts as paid.',
      button: 'Cancel',
      in_summary: 'cancel',
    },
  },

  disputed: {
    title: 'We are looking into it',
    text: 'The answer about your payment does not match what was asked. A person is looking into it.',
    advice: 'Do not pay again. Keep the reference: {reference}',
  },

  failed: {
    title: 'Not paid',
    nothing_taken: 'Nothing was taken.',
    again: 'Try again',
    other: 'Pay another way',
    leave: 'Go back to {shop} without paying',
    over: 'You cannot try again here. Go back to {shop} and start again.',
  },

  // What happened, and what the customer can do.
  reasons: {
    insufficient_funds: {
      title: 'Not paid: not enough money in the account',
      advice: 'Add money and try again, or pay another way.',
    },
    declined: {
      title: 'Not paid: it was declined on the phone',
      advice: 'If that was not what you wanted, try again.',
    },
    not_completed: {
      title: 'Not paid: you turned back at the card page',
      advice: 'Try again, or pay another way.',
    },
    no_answer: {
      title: 'Not paid: the request was not approved in time',
      advice: 'Keep your phone at hand and try again.',
    },
    withdrawn: {
      title: 'Not paid: the request was withdrawn',
      advice: 'Try again, or pay another way.',
    },
    limit_reached: {
      title: 'Not paid: a limit of the account was reached',
      advice: 'Pay another way, or ask your network or bank about your limit.',
    },
    no_wallet: {
      title: 'Not paid: this number has no wallet on this network',
      advice: 'Check the number and the network.',
    },
    wallet_blocked: {
      title: 'Not paid: the wallet is not active',
      advice: 'Pay another way, or ask your network.',
    },
    wrong_voucher: {
      title: 'Not paid: the voucher code was not accepted',
      advice: 'Get a new code and try again.',
    },
    network_error: {
      title: 'Not paid: the network had a problem',
      advice: 'Try again in a moment, or pay another way.',
    },
    card_declined: {
      title: 'Not paid: your bank did not accept the card',
      advice: 'Try another card, or pay another way.',
    },
    card_expired: {
      title: 'Not paid: the card has expired',
      advice: 'Try another card, or pay another way.',
    },
    wrong_cvv: {
      title: 'Not paid: the security code was not right',
      advice: 'It is the three digits on the back of the card. Try again.',
    },
    not_authenticated: {
      title: 'Not paid: your bank’s check was not passed',
      advice: 'Try again with the code that your bank sends you.',
    },
    refused: { title: 'Not paid: the provider refused', advice: 'Try again, or pay another way.' },
    provider_error: {
      title: 'Not paid: the provider could not carry it out',
      advice: 'Check that there is enough money in your account and try again, or pay another way.',
    },
    account_trouble: {
      title: 'Not paid: this payment method is out of order',
      advice: 'It is not your fault. Pay another way, or try again later.',
    },
    reversed: {
      title: 'Not paid: the charge was undone',
      advice: 'The money goes back to you. Try again, or pay another way.',
    },
    never_arrived: {
      title: 'Not paid: the request did not get through',
      advice: 'Try again, or pay another way.',
    },
    not_sent: {
      title: 'Not paid: the provider could not be reached',
      advice: 'Nothing was sent to it. Try again, or pay another way.',
    },
    given_up: {
      title: 'Not paid: this try was closed',
      advice: 'A person looked into it. If you have a question, keep the reference.',
    },
    expired: { title: 'Not paid: the time to pay is over', advice: 'Go back to the shop and start again.' },
    cancelled: { title: 'Not paid: it was cancelled', advice: 'Go back to the shop and start again.' },
  },

  cancel: {
    title: 'Cancel this payment?',
    text: 'Nothing was taken. You can start again at {shop}.',
    unresolved:
      'A request is still on its way. If the money still arrives, it counts as paid and {shop} is told.',
    yes: 'Yes, cancel',
    no: 'No, go back',
  },

  cancelled: {
    title: 'Cancelled',
    text: 'You cancelled this payment. Nothing was taken.',
    requested:
      'You cancelled this payment. If the money still arrives, it counts as paid and {shop} is told.',
  },

  expired: {
    title: 'The time to pay is over',
    text: 'Nothing was charged. Go back to {shop} and start again.',
  },

  closed: {
    title: 'You cannot pay here now',
    text: '{shop} takes no payments at the moment. Nothing was charged.',
  },

  no_methods: {
    title: 'You cannot pay here yet',
    text: '{shop} asked for this payment and it is safely recorded, but no payment method is set up on this gateway. Nothing was charged.',
  },

  paid: {
    title: 'Paid',
    to: 'Paid to {shop}',
    back: 'Back to {shop}',
    stay: 'Stay and see the receipt',
    receipt_to: 'The receipt goes to {where}.',
    see: 'See the receipt',
  },

  leave: {
    soon: 'Taking you back to {shop} at {host}',
    to: 'Continue to {host}',
    leads: 'This leads to {host}.',
  },

  receipt: {
    title: 'Receipt',
    test: 'TEST: no real money moved',
    merchant: 'Paid to',
    amount: 'Amount',
    description: 'For',
    invoice: 'Invoice',
    paid_with: 'Paid with',
    when: 'When',
    returned: 'Refunded',
    reference: 'Reference',
    provider_reference: 'Provider’s ref.',
    print: 'Print',
    copy: 'Copy the reference',
    copied: 'Copied',
    scan: 'Scan to open this receipt',
    back: 'Back to the payment',
    removed: 'Your personal data was removed on {date}, {days} days after this payment ended.',
  },

  test: {
    title: 'Test numbers and cards',
    try: 'Try an ending',
    endings: {
      paid: 'Paid',
      declined: 'Declined',
      no_money: 'No money',
      no_answer: 'No answer',
      late: 'Late',
      wrong_amount: 'Wrong amount',
    },
    wallets: 'Mobile money number, last three digits',
    cards: 'Card, any future date, security code 123',
    totals: 'Amount, with any number',
    voucher: 'A voucher code may be any 6 digits; 000000 is not accepted.',
    by_wallet: {
      '000, 001': 'Approved by itself: paid',
      '002': 'Failed: not enough money',
      '003': 'Failed: declined on the phone',
      '004': 'No answer: failed after 10 seconds',
      '005': 'No clear answer at first, then paid',
      '006': 'Paid after 20 seconds, without a callback from the provider',
      '007': 'Failed, then paid late, after 15 seconds',
      '008': 'Paid, and reported five times',
      '009': 'Another amount is reported: a person must look',
      '...': 'Any other number waits for you on the test phone',
    },
    by_card: {
      '4111 1111 1111 1111': 'Paid',
      '5555 5555 5555 4444': 'Paid',
      '4242 4242 4242 4242': 'Paid after a code (000000 fails)',
      '4000 0000 0000 0002': 'Failed: the bank says no',
      '5105 1051 0510 5100': 'Failed: not enough money',
      '4000 0000 0000 0069': 'Failed: the card has expired',
      '4000 0000 0000 0127': 'Failed: wrong security code',
      '4000 0000 0000 0119': 'No clear answer at first, then paid',
    },
    by_total: {
      '0.01': 'No answer in time',
      '0.02': 'Network error',
      '0.03': 'Not enough money',
      '0.04': 'Declined on the phone',
      '0.05': 'Paid after a delay',
    },
  },

  // Announced by a screen reader when the page changes.
  announcements: {
    choose: 'Choose how to pay.',
    step: 'One more step is needed.',
    wait: 'We are waiting for the answer.',
    disputed: 'We are looking into it. Do not pay again.',
    failed: 'Not paid.',
    over: 'Not paid.',
    expired: 'The time to pay is over.',
    cancelled: 'Cancelled.',
    paid: 'Paid.',
    closed: 'You cannot pay here now.',
  },

  // The home page.
  home: {
    title: 'A payment gateway',
    text: 'Shops send their customers here to pay by mobile money, card or QR code. Every payment has a page of its own, which only its link opens.',
    payer: 'Are you paying?',
    payer_text: 'Open the link that the shop gave you. If you cannot find it, ask the shop for it again.',
    shop: 'Are you building a shop?',
    shop_text: 'How to ask for a payment:',
    docs: 'the documentation',
    openapi: 'the OpenAPI description',
    keys: 'Your keys come from the operator of this gateway: ask the business that gave you this address.',
    test: 'Are you trying it out?',
    test_text: 'In test mode no real money moves:',
    phone: 'the test phone',
    inbox: 'mails and SMS',
    support: 'support',
    go: 'Go to the start page',
  },

  trouble: {
    nothing_here: 'There is nothing at this address',
    nothing_here_text:
      'Check that the address is complete. If you came here to pay, open the link that the shop gave you. Nothing was charged.',
    unreachable: 'We cannot show your payment now',
    unreachable_text:
      'Our database is unavailable for a moment. Your payment is safe. Reload this page shortly.',
    copy: 'This page cannot take your payment',
    copy_text:
      'It belongs to a copy of the payment system. Nothing was charged. Go back to the shop and open the payment from there.',
    busy: 'One moment, please',
    busy_text:
      'Very many pages are being opened from your network. Nothing has changed for your payment. Reload this page in a few seconds.',
    too_busy_text:
      'We are too busy to read what you sent. Nothing has changed for your payment. Reload this page in a few seconds.',
    no_payment: 'There is no payment at this address',
    no_payment_text:
      'Check that the link is complete, or go back to the shop and start again. Nothing was charged.',
    elsewhere: 'This did not come from our page',
    elsewhere_text: 'For your safety we did nothing. Open the payment’s own page and press the button there.',
    open: 'Open the payment',
    broken: 'Something broke on our side',
    broken_text:
      'Reload this page to see how your payment stands. If you had pressed the button to pay, look first, and do not pay twice.',
    unreadable: 'We could not read what was sent',
    unreadable_text: 'Nothing was changed and nothing was charged. Go back and try again.',
    cannot_start: 'This payment cannot start',
    cannot_start_text:
      'The shop sent something that we cannot take. Nothing was charged. Go back and tell the shop:',
  },

  // SMS and emails.
  messages: {
    unnamed_shop: 'the shop', // if the name cannot be written in an SMS

    // The variants of an SMS, the longest first. An SMS is one segment of 160 characters, because each segment is
    // charged. The last variant is for a link that leaves no room for other words.
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
      refunded: [
        'Refunded {amount} by {shop}. Ref {reference}. Receipt: {link}',
        'Refunded {amount} by {shop}. Ref {reference} {link}',
        'Refunded {amount} by {shop} {reference} {link}',
        'Refunded {amount} by {shop}. Ref {reference}',
      ],
    },

    subjects: {
      paid: 'Paid: {amount} to {shop}',
      failed: 'Not paid: {amount} to {shop}',
      cancelled: 'Cancelled: {amount} to {shop}',
      refunded: 'Refunded: {amount} by {shop}',
    },

    mail: {
      test: 'TEST: no real money moved',
      paid: 'Paid',
      paid_text: 'Your payment to {shop} is complete.',
      cancelled: 'Cancelled',
      cancelled_text: 'This payment was cancelled.',
      refunded: 'Refunded',
      refunded_text: '{shop} has returned this amount to you.',
      refunded_when: 'It goes back the way you paid. Your bank may take some days to show it.',
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
      returned: 'Refunded',
      returned_by: 'Refunded by',
      returned_to: 'Refunded to',
      when: 'When',
      reference: 'Reference',
    },
  },

  // The pages of the simulated provider: the test phone and the card page.
  sandbox: {
    banner: 'Simulated provider: no real money moves',
    back: 'Back to the checkout',
    asked: '{shop} asked for {amount}.',
    lost: 'There is nothing to pay at this address',
    lost_text: 'Check that the link is complete, or start again from the checkout.',
    broken: 'This page does not work right now',
    broken_text:
      'The simulated provider cannot reach its database. Nothing has changed. Reload the page in a moment.',
    too_large: 'That was too much',
    too_large_text: 'The form was larger than anyone would type. Nothing has changed. Go back and try again.',

    phone: {
      title: 'Test phone',
      text: 'Type a wallet number. You see the requests of the last 10 minutes that wait for it.',
      all_text:
        'You see every request of the last 10 minutes that waits for an answer. Type a wallet number to see only its requests.',
      rule: 'Any PIN pays. Cancel declines.',
      not_real: 'Never type a real PIN here.',
      idle: 'No request',
      number: 'Wallet number',
      wrong: 'This is not a phone number. Write it like 024 123 4567.',
      in_title: 'Not a phone number: test phone',
      show: 'Show requests',
      none: 'Nothing waits for this number',
      none_at_all: 'Nothing waits for an answer',
      none_text: 'Numbers that end in 000 to 009 answer by themselves. Any other number waits here.',
      waiting: 'Waiting for you',
    },

    prompt: {
      asks: '{shop} asks for {amount}',
      in_title: 'The PIN is missing: {title}',
      message: 'Pay {amount} to {shop}? Enter your PIN to approve.',
      wallet: 'Wallet',
      note: 'For',
      pin: 'Test PIN, any digits',
      missing: 'Type a PIN. Any digits will do.',
      approve: 'Send',
      decline: 'Cancel',
      paid: 'You paid {amount} to {shop}. Transaction {id}.',
    },

    // The outcome of a request, as the phone shows it.
    endings: {
      pending: 'Waiting',
      pending_text: 'This test wallet answers by itself. There is nothing for you to do here.',
      approved: 'Approved',
      approved_text: 'No real money moved.',
      declined: 'Declined',
      declined_text: 'Nothing was taken.',
      withdrawn: 'Withdrawn',
      withdrawn_text: 'The request was taken back at the checkout. Nothing was taken.',
      too_late: 'Too late',
      too_late_text: 'The request was not answered in time. Nothing was taken.',
      not_paid: 'Not paid',
      not_paid_text: 'The wallet said no. Nothing was taken.',
    },

    card: {
      test: 'A simulated card page. Never type a real card here.',
      pay: 'Pay {shop} {amount}',
      number: 'Card number',
      expiry: 'Expiry date, MM/YY',
      cvv: 'CVV',
      name: 'Name on the card (optional)',
      button: 'Pay {amount}',
      check: 'Check the card',
      in_title: 'Check the card: {title}',
      cancel: 'Cancel and go back',
      used: 'This page was used already, or its time is over. The checkout shows how it ended.',
      paid: 'Paid',
      at_bank: 'Sent to the bank',
    },

    test_refunds: 'Refunds by amount',
    test_refunds_text:
      'The amount of a refund of a test payment decides what happens. Any other amount succeeds.',
    by_refund: {
      delayed: 'succeeds after 15 seconds',
      fails: 'fails',
      needs_action: 'needs action, and stays so',
      needs_action_then_succeeds: 'needs action, then succeeds',
      error_then_succeeds: 'the answer is an error, then it succeeds',
      silent_then_succeeds: 'no answer, then it succeeds',
      cut_then_fails: 'the answer is lost, then it fails',
      fails_then_succeeds: 'fails, then succeeds',
      other_amount: 'another amount goes back: a person must look',
      stays_pending: 'stays pending',
      no_float: 'refused: the float is empty',
      told_often: 'succeeds, with four callbacks',
    },

    test_cards: 'Test cards',
    test_cards_text: 'Any date to come, CVV 123. Another CVV is refused with 82.',
    by_card: {
      card_approved: 'paid',
      '3ds': 'paid after a 3-D Secure step',
      card_not_honoured: 'not paid: 05 do not honour',
      card_no_funds: 'not paid: 51 insufficient funds',
      card_expired: 'not paid: 54 expired card',
      card_wrong_cvv: 'not paid: 82 wrong CVV',
      card_error_then_paid: '96 system error first, then paid',
    },

    card_faults: {
      no_number: 'The card number is missing.',
      not_digits: 'A card number has digits only.',
      length: 'A card number has 12 to 19 digits.',
      digit: 'A digit is wrong. Compare the number with the card.',
      no_test_card: 'This is no test card. Take one from the list.',
      expiry: 'Write month and year like 09/30.',
      over: 'This date is over. Any date to come will do.',
      cvv: 'The CVV is the 3 digits on the back of the card.',
      name: 'The name is longer than 100 characters.',
    },

    secure: {
      title: 'Is it you?',
      page: '3-D Secure, {amount}',
      text: 'Your bank asks for the code that it sent you, to pay {shop} {amount} with {card}.',
      nothing_sent: 'Nothing was sent: any code passes here, 000000 fails.',
      code: 'Code',
      confirm: 'Confirm',
      missing: 'Type a code.',
      in_title: 'The code is missing: {title}',
    },
  },
}

export type Texts = typeof en
