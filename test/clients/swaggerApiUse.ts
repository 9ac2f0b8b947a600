// What a shop writes with the class that swagger-typescript-api makes.
const start = `import { Api, type ErrorBody, type HttpResponse, type Notification } from './client.ts'
const api = new Api({ baseUrl: 'http://127.0.0.1:8080' })
const keys = { merchant_key: 'tk_1', invoice_id: 'AMA-1042' }
`

export const classUse = `${start}
const line_items = [{ name: 'Straw hat', quantity: 2, total: '25.00' }]
const body = { ...keys, total: '25.00', generate_checkout_url: true, line_items, extra_table: '7', secure_hash: '00' } as const
const refused = ({ error }: HttpResponse<unknown, ErrorBody>) => {
  throw new Error(\`\${error.error.code} \${error.error.hint?.likely_mistake} \${error.error.doc_url}\`)
}
const { data } = await api.v1.initiatePayment({ ...body, line_items }).catch(refused)
if (data.success && 'checkout_url' in data) console.log(data.checkout_url.length)
for (const warning of data.warnings ?? []) console.log(warning.code === 'unknown_field', warning.message)
const { data: checked } = await api.v1.checkStatus(keys)
if (checked.success && checked.status === 'paid') console.log(checked.amount === 25, checked.currency === 'GHS')
const headers = { 'x-tollgate-signature': 't=1,v1=00' }
const { data: feed } = await api.v1.readEvents({ merchant_key: 'tk_1', after: '', limit: 10 }, { headers })
if (feed.success) for (const event of feed.events) console.log(event.cursor, event.status === 'paid', feed.next)
const trigger = { merchant_key: 'tk_1', outcome: 'paid', time: 1772443800, secure_hash: '00' } as const
const { data: triggered } = await api.v1.triggerOutcome(trigger)
if (triggered.success) console.log(triggered.checkout_url)
const isPaid = (notified: Notification) => notified.status === 'paid'
console.log(isPaid)
`

export const classMistakes = `${start}
const signed = { ...keys, generate_checkout_url: true, secure_hash: '00' } as const
await api.v1.initiatePayment({ ...signed, total: true }) // wrong
await api.v1.initiatePayment({ ...signed, total: '25.00', invoice_id: 1042 }) // wrong
await api.v1.initiatePayment({ ...signed, total: '25.00', currency: 'CEDI' }) // wrong
await api.v1.initiatePayment(signed) // wrong
await api.v1.triggerOutcome({ merchant_key: 'tk_1', outcome: 'payed', time: 1, secure_hash: '00' }) // wrong
const { data } = await api.v1.checkStatus(keys)
if (data.success) console.log(data.status === 'settled') // wrong
`
