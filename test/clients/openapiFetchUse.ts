// What a shop writes with the types of openapi-typescript and the client openapi-fetch.
const start = `import createClient from 'openapi-fetch'
import type { components, paths, webhooks } from './client.ts'
const client = createClient<paths>({ baseUrl: 'http://127.0.0.1:8080' })
const keys = { merchant_key: 'tk_1', invoice_id: 'AMA-1042' }
`

export const fetchUse = `${start}
const line_items = [{ name: 'Straw hat', quantity: 2, total: '25.00' }]
const body = { ...keys, total: '25.00', generate_checkout_url: true, line_items, extra_table: '7', secure_hash: '00' } as const
const { data, error } = await client.POST('/v1/mobile_agents_v2', { body: { ...body, line_items } })
if (error) throw new Error(\`\${error.error.code} \${error.error.hint?.likely_mistake} \${error.error.doc_url}\`)
if (data.success && 'checkout_url' in data) console.log(data.checkout_url.length)
for (const warning of data.warnings ?? []) console.log(warning.code === 'unknown_field', warning.message)
const status = await client.GET('/v1/gateway/json_status_chk', { params: { query: keys } })
if (status.error?.error.code === 'GW-005') console.log('no such payment')
if (status.data?.success && status.data.status === 'paid') console.log(status.data.amount === 25, status.data.currency === 'GHS')
const header = { 'x-tollgate-signature': 't=1,v1=00' }
const feed = await client.GET('/v1/events', { params: { query: { merchant_key: 'tk_1', after: '', limit: 10 }, header } })
if (feed.data?.success) for (const event of feed.data.events) console.log(event.cursor, event.status === 'paid', feed.data.next)
const trigger = { merchant_key: 'tk_1', outcome: 'paid', time: 1772443800, secure_hash: '00' } as const
const triggered = await client.POST('/v1/test/triggers', { body: trigger })
if (triggered.data?.success) console.log(triggered.data.checkout_url)
type Notified = webhooks['paymentStatus']['post']['requestBody']['content']['application/json']
const isPaid = (notified: Notified): notified is components['schemas']['Notification'] => notified.status === 'paid'
console.log(isPaid)
`

export const fetchMistakes = `${start}
const signed = { ...keys, generate_checkout_url: true, secure_hash: '00' } as const
await client.POST('/v1/mobile_agents_v2', { body: { ...signed, total: true } }) // wrong
await client.POST('/v1/mobile_agents_v2', { body: { ...signed, total: '25.00', invoice_id: 1042 } }) // wrong
await client.POST('/v1/mobile_agents_v2', { body: { ...signed, total: '25.00', currency: 'CEDI' } }) // wrong
await client.POST('/v1/mobile_agents_v2', { body: signed }) // wrong
await client.GET('/v1/events', { params: { query: { merchant_key: 'tk_1' } } }) // wrong
await client.POST('/v1/test/triggers', { body: { merchant_key: 'tk_1', outcome: 'payed', time: 1, secure_hash: '00' } }) // wrong
const { data } = await client.GET('/v1/gateway/json_status_chk', { params: { query: keys } })
if (data?.success) console.log(data.status === 'settled') // wrong
`
