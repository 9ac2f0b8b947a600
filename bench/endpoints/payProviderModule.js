// The line to the provider that customers pay by, over the HTTP that every provider of its version has. It is a file in
// `src/providers/`, and serves this way before the sandbox does; the others stay on the page.
const modules = ['./http/providerHttp.js', './http/askJson.js'] // beside the copy of this file; former versions have the latter
const { askJson, sendJson = askJson } = await import(modules[0]).then(
  ({ openProviderHttp }) => openProviderHttp(),
  () => import(modules[1]),
)

const minutes = 60_000
const phone = { name: 'phone', kind: 'phone' }
const way = {
  payment_method: 'mtn_mobile_money',
  label: 'MTN MoMo',
  badge: { text: 'MTN', background: '#ffcc00', ink: '#15201b' },
  currencies: ['GHS'],
  fields: [phone],
  next: 'prompt',
  lifetimeMs: 5 * minutes,
  network: 'mtn',
  dial: { code: '*170#', steps: '6 My Wallet, 3 My Approvals' },
}
const terms = { account: 'pay', startIsIdempotent: true, visibleWithinMs: minutes, failureMayReverseForMs: 0 }

function open(url) {
  const headers = { 'content-type': 'application/json' }
  const start = async ({ attempt_id: id, amount, currency, callback_url }, signal) => {
    const body = JSON.stringify({ id, amount: String(amount), currency, callback_url })
    return readReply(await sendJson(`${url}/orders`, { method: 'POST', headers, body, signal }))
  }
  const check = async ({ attempt_id }, signal) =>
    readReply(await askJson(`${url}/orders/${attempt_id}`, { method: 'GET', signal }))
  return { ...terms, mode: 'test', methods: [way], start, check }
}

export default {
  settings: [{ name: 'provider', words: 'The address of the provider.' }],
  open: ({ provider }) => open(provider),
}

const readReply = ({ answer: { state, order, amount, currency, reference } }) =>
  state === 'paid' ? { state, order, amount: BigInt(amount), currency, provider_ref: reference } : { state }
