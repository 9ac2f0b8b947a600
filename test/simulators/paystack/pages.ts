import type { Said } from '../frame.ts'
import type { Charge } from './books.ts'

// The pages that people see, plain and without scripts: Paystack's own for cards, and a telephone for everything else.
const escape = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

const money = ({ amount, currency }: Charge) => `${currency} ${(amount / 100).toFixed(2)}`

const page = (title: string, main: string): Said => ({
  status: 200,
  headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' },
  body: `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escape(title)}</title><style>
body{font:16px/1.5 system-ui,sans-serif;max-width:26rem;margin:2rem auto;padding:0 1rem;color:#15201b}
button{font:inherit;display:block;width:100%;min-height:44px;margin:.5rem 0}td{padding:.3rem .5rem .3rem 0}
</style></head><body><main><h1>${escape(title)}</h1>${main}</main></body></html>`,
})

const button = (decision: string, words: string) =>
  `<button name="decision" value="${decision}">${escape(words)}</button>`

export const cardDecisions = {
  pay: { words: 'Pay with Visa 4081', says: 'Approved' },
  decline: { words: 'Pay with a card that is declined', says: 'Declined' },
  no_money: { words: 'Pay with a card that has no money', says: 'Insufficient Funds' },
  not_secure: { words: 'Fail at 3-D Secure', says: 'Authentication failed: token not generated' },
} as const

export function cardPage(charge: Charge): Said {
  if (charge.ended === 'success') return page('Simulated Paystack', '<p>This was paid.</p>')
  const said = charge.ended === 'failed' ? `<p role="alert">Not paid: ${escape(charge.says)}</p>` : ''
  const buttons = Object.entries(cardDecisions).map(([decision, { words }]) => button(decision, words))
  return page(
    'Simulated Paystack',
    `${said}<p>${escape(money(charge))} for ${escape(charge.email)}</p>
<form method="post">${buttons.join('')}${button('leave', 'Leave without paying')}</form>`,
  )
}

export function phonePage(charges: readonly Charge[]): Said {
  const open = charges.filter(({ ended, channel }) => !ended && channel === 'mobile_money')
  const rows = open.map(
    charge => `<section><h2>${escape(charge.phone ?? '')}</h2><p>${escape(money(charge))}, ${escape(charge.asks)}</p>
<form method="post" action="/phone/${charge.reference}">${button('approve', 'Approve')}${button('decline', 'Decline')}</form></section>`,
  )
  return page('Telephones', rows.join('') || '<p>Nobody is asked for anything.</p>')
}

export const leadTo = (location: string): Said => ({ status: 303, headers: { location }, body: '' })
