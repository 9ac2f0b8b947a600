// The line to a simulated provider. A copy of this file in `src/providers/` is a provider, named as the file is there, and
// reads its provider's address from the setting of that name.
const [, name = ''] = /(\w+)\.js$/.exec(import.meta.url) ?? []
const deadlineMs = 15_000

const way = {
  payment_method: `${name}_wallet`,
  label: name,
  badge: { text: name[0], background: '#2a3550', ink: '#ffffff' },
  currencies: ['GHS'],
  fields: [],
  next: 'prompt',
  lifetimeMs: 300_000,
}
const terms = { account: name, startIsIdempotent: true, visibleWithinMs: 60_000, failureMayReverseForMs: 0 }

function open(url) {
  const check = async ({ attempt_id }, signal = AbortSignal.timeout(deadlineMs)) =>
    readReply(attempt_id, await (await fetch(`${url}/${attempt_id}`, { signal })).json())
  return { ...terms, mode: 'test', methods: [way], start: check, check }
}

export default {
  settings: [{ name: 'provider', words: 'The address of the provider.' }],
  open: ({ provider }) => open(provider),
}

/** @type {(order: string, answer: any) => object} */
const readReply = (order, { state, amount, currency }) =>
  state === 'paid' ? { state, order, amount: BigInt(amount), currency } : { state: 'pending' }
