import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { demoId, welcome } from '../../../src/actions/merchants/onboard.ts'
import { newFirstVisitMark } from '../../../src/core/access/firstVisitMark.ts'
import { sql } from '../../../src/store/db.ts'
import { formTokenIn } from '../../support/dashboard/signedIn.ts'
import { type TestGateway, testGateway } from '../../support/gateway/gateway.ts'

// Each test has a new installation, because there is only one first account.
const demo = { hasDemo: true }
const TOLLGATE_MASTER_KEY = randomBytes(32).toString('hex')
let gateway: TestGateway
let elsewhere: TestGateway
beforeAll(async () => {
  ;[gateway, elsewhere] = await Promise.all([
    testGateway({ TOLLGATE_MASTER_KEY }, demo),
    testGateway({ TOLLGATE_TRUST_PROXY: '1' }, demo), // others reach it through a proxy
  ])
  for (const { db, masterKeys } of [gateway, elsewhere]) await welcome(db, masterKeys, new Date())
})
afterAll(() => Promise.all([gateway.stop(), elsewhere.stop()]))

const firstVisit = '/dashboard/first-visit'
const demoPlaces = [`/dashboard/account`, '/dashboard/places']

function openBrowser(at: TestGateway) {
  const cookies = new Map<string, string>()
  const send = async (path: string, init: RequestInit = {}) => {
    const answer = await fetch(path.startsWith('http') ? path : `${at.url}${path}`, {
      redirect: 'manual',
      ...init,
      headers: {
        accept: 'text/html',
        origin: at.url,
        cookie: [...cookies].map(pair => pair.join('=')).join('; '),
      },
    })
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    return answer
  }
  const create = async (fields: Record<string, string> = {}) => {
    const form_token = formTokenIn(await (await send(firstVisit)).text())
    const body = new URLSearchParams({ ...account, ...fields, form_token })
    return send(firstVisit, { method: 'POST', body })
  }
  return {
    cookies,
    get: (path: string) => send(path),
    create,
    enter: async () => send(await at.supportLink()),
  }
}

const account = { name: 'Esi Boateng', email: 'esi@example.com', password: 'four words that differ' }
const to = (answer: Response) => [answer.status, answer.headers.get('location')]
const statusesOf = (browser: ReturnType<typeof openBrowser>) =>
  Promise.all(demoPlaces.map(async path => (await browser.get(path)).status))

test('without the link there is no account to create, and the page says how to get one', async () => {
  const stranger = openBrowser(gateway)
  expect(to(await stranger.get('/dashboard/sign-in'))).toEqual([303, firstVisit])
  const page = await stranger.get(firstVisit)
  expect([page.status, await page.text()]).toEqual([403, expect.stringContaining('tollgate support link')])
  expect((await stranger.create()).status).toBe(403)
  stranger.cookies.set('tollgate_first_visit', newFirstVisitMark(Buffer.alloc(32), new Date())) // of another key
  expect((await stranger.get(firstVisit)).status).toBe(403)
  expect(await gateway.db.rows(sql`select 1 from users`)).toEqual([])
})

test('the link shows the demo shop and the operator their dashboards, without an account', async () => {
  const browser = openBrowser(gateway)
  expect(to(await browser.enter())).toEqual([303, firstVisit])
  const html = await (await browser.get(firstVisit)).text()
  expect(html).toContain(`/dashboard/m/${demoId}/test`)
  expect(html).toContain('Create the operator’s account')
  expect(await statusesOf(browser)).toEqual([200, 200])
  expect(to(await browser.get('/dashboard'))).toEqual([303, '/dashboard/operator'])
  expect((await browser.get('/support')).status).toBe(200)
})

test('behind a proxy the link opens support and the first account, and no demo', async () => {
  const browser = openBrowser(elsewhere)
  expect(to(await browser.enter())).toEqual([303, firstVisit])
  expect(browser.cookies.has('tollgate_session')).toBe(false)
  expect(await (await browser.get(firstVisit)).text()).not.toContain(demoId)
})

test('a demo session opens nothing where others reach the gateway', async () => {
  const browser = openBrowser(gateway)
  await browser.enter()
  const open = await testGateway({ TOLLGATE_MASTER_KEY, TOLLGATE_TRUST_PROXY: '1' }, demo, {
    url: gateway.databaseUrl,
    drop: async () => {},
  })
  const elsewhereNow = openBrowser({ ...gateway, url: open.url })
  for (const [name, value] of browser.cookies) elsewhereNow.cookies.set(name, value)
  expect(await statusesOf(elsewhereNow)).toEqual([303, 303])
  await open.stop()
})

for (const [field, value, says] of [
  ['name', ' ', 'Write a name'],
  ['email', 'esi', 'not an email address'],
  ['password', 'short', 'at least 10 characters'],
  ['password', 'password12', 'first guesses'],
] as const)
  test(`a ${field} of "${value}" creates no account, and nothing that was typed is lost`, async () => {
    const browser = openBrowser(gateway)
    await browser.enter()
    const answer = await browser.create({ [field]: value })
    const html = await answer.text()
    expect(answer.status).toBe(422)
    expect(html).toContain(says)
    if (field !== 'email') expect(html).toContain('value="esi@example.com"')
    expect(html).not.toContain(account.password)
    expect(await gateway.db.rows(sql`select 1 from users where not is_demo`)).toEqual([])
  })

test('of two browsers one creates the first account; then demo, other links and offers end', async () => {
  const demoBrowser = openBrowser(gateway)
  const browsers = [openBrowser(gateway), openBrowser(gateway)] as const
  for (const browser of [demoBrowser, ...browsers]) await browser.enter()
  const answers = await Promise.all(
    browsers.map((browser, at) => browser.create({ email: `first${at}@example.com` })),
  )
  expect(answers.map(to).toSorted(([, a], [, b]) => String(a).localeCompare(String(b)))).toEqual([
    [303, '/dashboard'],
    [303, firstVisit],
  ])
  const users = await gateway.db.rows(sql`select operator_role, active from users where not is_demo`)
  expect(users).toEqual([{ operator_role: 'admin', active: true }])
  const winner = browsers[answers.findIndex(answer => answer.headers.get('location') === '/dashboard')]
  if (!winner) throw new Error('no account was created')

  // The second factor comes before anything else.
  expect(to(await winner.get('/dashboard/places'))).toEqual([303, '/dashboard/account/second-factor'])
  expect((await winner.get('/dashboard/account/second-factor')).status).toBe(200)

  // The demo has ended.
  expect(await statusesOf(demoBrowser)).toEqual([303, 303])
  expect(
    await gateway.db.rows(sql`select 1 from user_sessions s join users u using (user_id) where u.is_demo`),
  ).toEqual([])

  // A further link opens support, as before, and nothing of the dashboard.
  const later = openBrowser(gateway)
  expect(to(await later.enter())).toEqual([303, '/support'])
  expect([...later.cookies.keys()]).toEqual(['tollgate_support'])
  expect((await later.get('/support')).status).toBe(200)
  expect(await statusesOf(later)).toEqual([303, 303])
  expect(await (await later.get(firstVisit)).text()).toContain('The operator’s account exists')
  expect((await demoBrowser.create({ email: 'late@example.com' })).status).toBe(403)
  expect((await gateway.db.rows(sql`select 1 from users where not is_demo`)).length).toBe(1)
  const [entry] = await gateway.db.rows(sql`
    select actor_kind, after from audit_entries where action = 'user.first_account'`)
  expect(entry).toEqual({ actor_kind: 'token', after: { operator_role: 'admin' } })
})
