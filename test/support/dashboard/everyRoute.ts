import { hash } from 'node:crypto'
import { installationSecrets } from '../../../src/actions/installation/secrets.ts'
import { sql } from '../../../src/store/db.ts'
import { allDashboardRoutes } from '../../../src/web/dashboard/allRoutes.ts'
import type { AreaDeps } from '../../../src/web/dashboard/areaDeps.ts'
import { newFormToken } from '../../../src/web/dashboard/formToken.ts'
import type { TestGateway } from '../gateway/gateway.ts'
import type { DashboardClient } from './signedIn.ts'

// Every route of the dashboard, as the gateway serves it, so that the tests also cover the areas of tomorrow.

// Handlers are never called here, so any dependency will do.
const anything: unknown = new Proxy(() => anything, { get: () => anything })
export const everyRoute = allDashboardRoutes(anything as AreaDeps)

type AnyRoute = { method: 'get' | 'post'; path: string; hasFile?: boolean }

export const nameOf = (part: string, { method, path }: AnyRoute) => `${method} ${part}${path}`

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
    sent: { token?: string; origin?: string; fields?: Record<string, string> } = {},
  ) {
    const headers = { cookie: client?.cookie ?? '', accept: 'text/html', origin: sent.origin ?? url }
    if (route.method === 'get') return fetch(`${url}${path}`, { headers, redirect: 'manual' })
    const fields = { ...sent.fields, form_token: sent.token ?? (client ? tokenOf(client) : '') }
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
  'closing_progress',
  'refused_counts',
  'provider_businesses',
  'user_mails', // each try of the sender; what queues a mail also writes to another table
]

// When a key and a session were last used.
const row = "(to_jsonb(t) - '{last_used_at,seen_at}'::text[])::text"

// A digest of every table.
export async function digestOfTables({ db }: Pick<TestGateway, 'db'>) {
  const tables = await db.rows<{ name: string }>(sql`
    select quote_ident(relname) as name from pg_class join pg_namespace n on n.oid = relnamespace
    where relkind = 'r' and nspname = current_schema() order by 1`)
  const parts = tables
    .filter(({ name }) => !unrelated.includes(name))
    .map(
      ({ name }) => `select '${name}' as name, md5(string_agg(${row}, ',' order by ${row})) from ${name} t`,
    )
  const rows = await db.rows<{ name: string; md5: string | null }>(sql([parts.join(' union all ')]))
  return Object.fromEntries(rows.map(({ name, md5 }) => [name, md5]))
}
