import type { SimulatorReply } from '../simulator.ts'
import type { Charge } from './charges.ts'
import type { Business } from './business.ts'

// HTML pages without scripts: Paystack's card page, and a simulated phone for everything else.
const escape = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

const money = ({ amount, currency }: Charge) => `${currency} ${(amount / 100).toFixed(2)}`

const page = (title: string, main: string): SimulatorReply => ({
  status: 200,
  headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' },
  body: `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escape(title)}</title><style>
body{font:16px/1.5 system-ui,sans-serif;max-width:26rem;margin:2rem auto;padding:0 1rem;color:#15201b}
button,input{font:inherit;display:block;width:100%;min-height:44px;margin:.5rem 0}td{padding:.3rem .5rem .3rem 0}
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

export function cardPage(charge: Charge): SimulatorReply {
  if (charge.ended === 'success') return page('Simulated Paystack', '<p>This was paid.</p>')
  const said = charge.ended === 'failed' ? `<p role="alert">Not paid: ${escape(charge.says)}</p>` : ''
  const buttons = Object.entries(cardDecisions).map(([decision, { words }]) => button(decision, words))
  return page(
    'Simulated Paystack',
    `${said}<p>${escape(money(charge))} for ${escape(charge.email)}</p>
<form method="post">${buttons.join('')}${button('leave', 'Leave without paying')}</form>`,
  )
}

export function phonePage(charges: readonly Charge[]): SimulatorReply {
  const open = charges.filter(({ ended, channel }) => !ended && channel === 'mobile_money')
  const rows = open.map(
    charge => `<section><h2>${escape(charge.phone ?? '')}</h2><p>${escape(money(charge))}, ${escape(charge.asks)}</p>
<form method="post" action="/phone/${charge.reference}">${button('approve', 'Approve')}${button('decline', 'Decline')}</form></section>`,
  )
  return page('Telephones', rows.join('') || '<p>Nobody is asked for anything.</p>')
}

// Each business has one webhook address, in test mode and in live mode.
export function dashboardPage(businesses: readonly Business[]): SimulatorReply {
  const sections = businesses.map(
    ({ secretKey, hooks, terms, charges }) => `<section><h2>${escape(secretKey)} (${terms.domain})</h2>
<form method="post" action="/dashboard"><input type="hidden" name="secret_key" value="${escape(secretKey)}">
<label>Webhook URL <input name="webhook_url" value="${escape(hooks.url ?? '')}"></label><button>Save</button></form>
${[...charges.values()].map(transactionRow).join('')}</section>`,
  )
  return page('Dashboard', sections.join(''))
}

function transactionRow(charge: Charge): string {
  if (charge.ended !== 'success' && charge.ended !== 'reversed') return ''
  const hasOpen = charge.disputes.some(({ status }) => status !== 'resolved')
  const refunds =
    charge.ended === 'success' ? button('refund', 'Refund') + button('refund_part', 'Refund a part') : ''
  const disputes = hasOpen
    ? button('win', 'The merchant wins the dispute') + button('lose', 'The merchant loses the dispute')
    : button('dispute', 'The customer disputes it')
  return `<form method="post" action="/dashboard"><input type="hidden" name="reference" value="${escape(charge.reference)}">
<p>${escape(money(charge))}, ${escape(charge.phone ?? 'card')}, ${charge.ended}, ${charge.refunds.length} refunds</p>${refunds}${disputes}</form>`
}

export const leadTo = (location: string): SimulatorReply => ({ status: 303, headers: { location }, body: '' })
