import { afterAll, beforeAll, expect, test } from 'vitest'
import { sql } from '../../../src/store/db.ts'
import { type DashboardClient, signedIn } from '../../support/dashboard/signedIn.ts'
import { testGateway, type TestGateway, type TestMerchant } from '../../support/gateway/gateway.ts'
import { post, signedRequest } from '../../support/merchant/merchant.ts'

let gateway: TestGateway
let merchant: TestMerchant
let admin: DashboardClient
let support: DashboardClient
let reader: DashboardClient
beforeAll(async () => {
  gateway = await testGateway()
  merchant = await gateway.addMerchant()
  admin = await signedIn(gateway, { operator: 'admin', name: 'Esi Adjei' })
  support = await signedIn(gateway, { operator: 'support', name: 'Yaw Mensah' })
  reader = await signedIn(gateway, { operator: 'read_only' })
})
afterAll(() => gateway.stop())

const base = '/dashboard/operator'
const noticesOf = (answers: readonly Response[]) =>
  answers
    .map(answer => answer.headers.get('location')?.split('done=')[1] ?? '')
    .toSorted((a, b) => a.localeCompare(b))

// A payment with an attempt whose outcome is unknown, and a task about it.
async function addTask(kind = 'unresolved') {
  const { tx_reference } = (await post(gateway.url, signedRequest(merchant.test, {}))).body
  const { merchant_id } = merchant
  const attempt_id = `${merchant_id}${tx_reference}`
  await gateway.db.rows(sql`
    insert into attempts (merchant_id, attempt_id, tx_reference, number, provider_account, mode, payment_method, state,
      created_at, updated_at)
    values (${merchant_id}, ${attempt_id}, ${tx_reference}, 1, 'sandbox', 'test', 'card', 'unknown', now(), now())`)
  await gateway.db.rows(sql`
    insert into tasks (merchant_id, attempt_id, kind, tx_reference, amount, currency, note, created_at)
    values (${merchant_id}, ${attempt_id}, ${kind}, ${tx_reference}, 2500, 'GHS', 'call 0244123456 <b>now</b>',
      date_trunc('milliseconds', now()))`)
  const page = `${base}/tasks/${merchant_id}/${tx_reference}/${kind}`
  const seenOn = async (client: DashboardClient) =>
    /name="seen" value="(\d*)"/.exec(await client.html(page))?.[1] ?? ''
  return { page, tx_reference, attempt_id, seenOn }
}

const auditOf = (subject: string) =>
  gateway.db.rows<{ action: string; after: unknown; before: unknown }>(
    sql`select action, after, before from audit_entries where subject = ${subject} order by entry_id`,
  )

test('the inbox lists the open tasks with what to do, and shows neither secrets nor full numbers', async () => {
  const { page, attempt_id } = await addTask()
  const list = await reader.html(`${base}/tasks`)
  expect(list).toContain('No outcome for a day')
  expect(list).toContain('Proposed: ask the provider')
  expect(list).toContain(page)
  const one = await reader.html(page)
  expect(one).toContain('024 ••• 3456 &lt;b&gt;now')
  expect(one).not.toContain('0244123456')
  expect(list + one).not.toContain(attempt_id) // the secret of the provider's callbacks
  expect(one).not.toContain('<form method="post" action="/dashboard/operator/tasks')
})

test('a task is taken once, and of two who take it at the same time one is told so', async () => {
  const { page, tx_reference, seenOn } = await addTask()
  const seen = await seenOn(admin)
  const take = (client: DashboardClient) => client.submit(page, `${page}/take`, { number: '1', seen })
  const answers = await Promise.all([take(admin), take(support)])
  expect(noticesOf(answers)).toEqual(['changed', 'taken'])
  const [winner, loser] = noticesOf(answers.slice(0, 1))[0] === 'taken' ? [admin, support] : [support, admin]
  expect(noticesOf([await take(winner)])).toEqual(['already'])
  expect(await auditOf(tx_reference)).toEqual([
    { action: 'task.take', before: null, after: { kind: 'unresolved' } },
  ])
  const mine = await winner.html(`${base}/tasks?owner=me`)
  expect(mine).toContain(page)
  expect(await loser.html(`${base}/tasks?owner=me`)).not.toContain(page)
  expect(await loser.html(`${base}/tasks?owner=none`)).not.toContain(page)
})

test('a note is kept with the task and not in the audit log, and a second tab overwrites nothing', async () => {
  const { page, tx_reference, seenOn } = await addTask()
  const seen = await seenOn(support)
  const write = (note: string) => support.submit(page, `${page}/note`, { number: '1', seen, note })
  expect(noticesOf([await write('asked <i>MTN</i> about Kofi')])).toEqual(['noted'])
  expect(noticesOf([await write('another note')])).toEqual(['changed'])
  expect(await reader.html(page)).toContain('asked &lt;i&gt;MTN&lt;/i&gt; about Kofi')
  expect(JSON.stringify(await auditOf(tx_reference))).not.toContain('Kofi')
  const long = await support.submit(page, `${page}/note`, { number: '1', seen, note: 'x'.repeat(1001) })
  expect(long.status).toBe(422)
  expect(await long.text()).toContain('x'.repeat(1001))
})

test('closing a task gives its attempt up once, however often the form is submitted', async () => {
  const { page, tx_reference, attempt_id } = await addTask()
  const close = () => admin.submit(page, `${page}/close`, { number: '1', note: 'They do not have it.' })
  expect((await admin.submit(page, `${page}/close`, { number: '1', note: ' ' })).status).toBe(422)
  expect(noticesOf(await Promise.all([close(), close()]))).toEqual(['already', 'closed'])
  const attempt = await gateway.db.one<{ state: string; reason: string }>(
    sql`select state, reason from attempts where attempt_id = ${attempt_id}`,
  )
  expect(attempt).toEqual({ state: 'failed', reason: 'given_up' })
  expect((await auditOf(tx_reference)).map(({ action }) => action)).toEqual(['task.close'])
  expect(await admin.html(`${base}/tasks`)).not.toContain(page)
  expect(await admin.html(`${base}/tasks?state=closed&kind=unresolved`)).toContain(page)
  expect(noticesOf([await admin.submit(page, `${page}/take`, { number: '1', seen: '' })])).toEqual([
    'changed',
  ])
})

test('a role that may not work on tasks changes nothing', async () => {
  const { page, tx_reference, seenOn } = await addTask()
  const seen = await seenOn(admin)
  const owner = await signedIn(gateway, { member: { merchant_id: merchant.merchant_id, role: 'owner' } })
  for (const action of ['take', 'release', 'note', 'close'])
    for (const client of [reader, owner]) {
      const fields = { number: '1', seen, note: 'x' }
      const answer = await client.submit('/dashboard/account', `${page}/${action}`, fields)
      expect([403, 404], action).toContain(answer.status)
    }
  expect(await auditOf(tx_reference)).toEqual([])
})

test('the inbox is in pages, each by the place of the one before', async () => {
  const { attempt_id, tx_reference } = await addTask('reversed')
  await gateway.db.rows(sql`
    insert into tasks (merchant_id, attempt_id, kind, tx_reference, amount, currency, note, created_at)
    select ${merchant.merchant_id}, ${attempt_id} || n, 'dispute_lost', ${tx_reference} || n, n, 'GHS', '',
      now() - n * interval '1 minute'
    from generate_series(1, 70) n`)
  const first = await reader.html(`${base}/tasks?kind=dispute_lost`)
  expect(first.match(/A dispute was lost<\/b>/g)?.length).toBe(50)
  const next = /href="([^"]*after=[^"]*)"/.exec(first)?.[1]?.replaceAll('&amp;', '&') ?? ''
  const second = await reader.html(next)
  expect(second.match(/A dispute was lost<\/b>/g)?.length).toBe(20)
  expect(second).toContain('GHS 0.70')
})
