import { hash } from 'node:crypto'
import { installationSecrets } from '../../../src/actions/installation/secrets.ts'
import { sql } from '../../../src/store/db.ts'
import type { AreaDeps } from '../../../src/web/dashboard/areaDeps.ts'
import { allDashboardRoutes } from '../../../src/web/dashboard/allRoutes.ts'
import { newFormToken } from '../../../src/web/dashboard/formToken.ts'
import type { TestGateway, TestMerchant } from '../gateway/gateway.ts'
import { post, signedRequest } from '../merchant/merchant.ts'
import type { DashboardClient } from './signedIn.ts'

// Every route of the dashboard, as the gateway serves it, so that the tests also cover the areas of tomorrow.

// Handlers are never called here, so any dependency will do.
const anything: unknown = new Proxy(() => anything, { get: () => anything })
export const everyRoute = allDashboardRoutes(anything as AreaDeps)

type AnyRoute = { method: 'get' | 'post'; path: string; hasFile?: boolean }

export const nameOf = (part: string, { method, path }: AnyRoute) => `${method} ${part}${path}`

// A gateway with a payment at each of two merchants.
export async function seedPayments(gateway: TestGateway) {
  const pay = async (merchant: TestMerchant) => {
    const { body } = await post(gateway.url, signedRequest(merchant.test, { number: '0240000001' }))
    return String(body.tx_reference)
  }
  const [merchant, other] = [await gateway.addMerchant(), await gateway.addMerchant()]
  return { merchant, other, reference: await pay(merchant), otherReference: await pay(other) }
}
export type Seeded = Awaited<ReturnType<typeof seedPayments>>

// The address of a route: parameters are filled with rows that exist, or with an id of nothing.
export const filledPath = (path: string, { other, reference }: Pick<Seeded, 'other' | 'reference'>) =>
  path
    .replace('/merchants/:id', `/merchants/${other.merchant_id}`)
    .replace(':reference', reference)
    .replaceAll(/:\w+(\{[^}]*\})?/g, 'none')

const digestOf = ({ cookie }: DashboardClient) =>
  hash('sha256', cookie.slice(cookie.indexOf('=') + 1), 'base64url')

// Sends requests as users, with the form token of their sessions.
export async function requestsTo({ url, db, masterKeys }: TestGateway) {
  const { formKey } = await installationSecrets(db, masterKeys, new Date())
  const tokenOf = (client: DashboardClient) => newFormToken(formKey, digestOf(client))

  function send(
    route: AnyRoute,
    path: string,
    client: DashboardClient | undefined,
    sent: { token?: string; origin?: string } = {},
  ) {
    const headers = { cookie: client?.cookie ?? '', accept: 'text/html', origin: sent.origin ?? url }
    if (route.method === 'get') return fetch(`${url}${path}`, { headers, redirect: 'manual' })
    const fields = { form_token: sent.token ?? (client ? tokenOf(client) : '') }
    const body = route.hasFile ? new FormData() : new URLSearchParams()
    for (const [name, value] of Object.entries(fields)) body.append(name, value)
    return fetch(`${url}${path}`, { method: 'POST', headers, body, redirect: 'manual' })
  }
  return { send, tokenOf }
}

// Written by the gateway itself, beside any request.
const unrelated = [
  'nodes',
  'node_minutes',
  'provider_health',
  'ledger_seals',
  'report_progress',
  'refused_counts',
]

// A digest of every table.
export async function digestOfTables({ db }: Pick<TestGateway, 'db'>) {
  const tables = await db.rows<{ name: string }>(sql`
    select quote_ident(relname) as name from pg_class join pg_namespace n on n.oid = relnamespace
    where relkind = 'r' and nspname = current_schema() order by 1`)
  const parts = tables
    .filter(({ name }) => !unrelated.includes(name))
    .map(
      ({ name }) => `select '${name}' as name, md5(string_agg(t::text, ',' order by t::text)) from ${name} t`,
    )
  const rows = await db.rows<{ name: string; md5: string | null }>(sql([parts.join(' union all ')]))
  return Object.fromEntries(rows.map(({ name, md5 }) => [name, md5]))
}
