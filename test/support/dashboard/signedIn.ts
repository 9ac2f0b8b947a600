import { startUserSession } from '../../../src/actions/access/sessions.ts'
import type { MerchantRole, OperatorRole } from '../../../src/core/access/permissions.ts'
import { newUserId } from '../../../src/runtime/ids.ts'
import { addUser, saveMembership } from '../../../src/store/access/users.ts'
import type { TestGateway } from '../gateway/gateway.ts'

type Account = {
  name?: string
  operator?: OperatorRole
  member?: { merchant_id: string; role: MerchantRole; outlets?: readonly string[] }
  lang?: string
}

export type DashboardClient = {
  user_id: string
  cookie: string
  get(path: string): Promise<Response>
  html(path: string): Promise<string>
  // Posts a form with the token of the page that has it.
  submit(page: string, action: string, fields?: Record<string, string>): Promise<Response>
}

// A new user with a session, without the sign-in pages.
export async function signedIn(
  { db, url }: Pick<TestGateway, 'db' | 'url'>,
  account: Account,
): Promise<DashboardClient> {
  const now = new Date()
  const user_id = newUserId()
  await addUser(db, {
    user_id,
    email: `${user_id}@example.com`,
    name: account.name ?? 'Akua Owusu',
    lang: account.lang ?? 'en',
    password_hash: null,
    operator_role: account.operator ?? null,
    sealed_totp: account.operator ? Buffer.from('set up') : null, // operators without one are led to set it up
    totp_step: null,
    active: true,
    created_at: now,
    signed_in_at: now,
  })
  const { member } = account
  if (member) await saveMembership(db, { outlets: null, ...member, user_id, created_at: now })
  const id = await startUserSession(db, user_id, { address: '127.0.0.1', agent: 'test' }, now)
  const cookie = `tollgate_session=${id}`
  return dashboardClient(url, user_id, cookie)
}

export function dashboardClient(url: string, user_id: string, cookie: string): DashboardClient {
  const get = (path: string) =>
    fetch(`${url}${path}`, { headers: { cookie, accept: 'text/html' }, redirect: 'manual' })
  const html = async (path: string) => (await get(path)).text()
  return {
    user_id,
    cookie,
    get,
    html,
    async submit(page, action, fields = {}) {
      const form_token = formTokenIn(await html(page))
      return fetch(`${url}${action}`, {
        method: 'POST',
        headers: { cookie, accept: 'text/html', origin: url },
        body: new URLSearchParams({ ...fields, form_token }),
        redirect: 'manual',
      })
    },
  }
}

export const formTokenIn = (html: string) => /name="form_token" value="([^"]+)"/.exec(html)?.[1] ?? ''
