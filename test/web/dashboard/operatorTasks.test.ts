import { afterAll, beforeAll, expect, test } from 'vitest'
import { setMerchant } from '../../../src/actions/merchants/setMerchant.ts'
import { sql } from '../../../src/store/db.ts'
import { type DashboardClient, signedIn } from '../../support/dashboard/signedIn.ts'
import { testGateway, type TestGateway, type TestMerchant } from '../../support/gateway/gateway.ts'
import { post, signedRequest } from '../../support/merchant/merchant.ts'
import { trigger } from '../../support/merchant/testTools.ts'

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

test('a form about a task that does not exist is answered 404', async () => {
  const { page } = await addTask()
  const { tx_reference } = (await post(gateway.url, signedRequest(merchant.test, {}))).body
  for (const nowhere of [
    `${base}/tasks/${merchant.merchant_id}/${tx_reference}/unresolved`,
    `${base}/tasks/none/none/unresolved`,
  ])
    for (const action of ['take', 'release', 'note', 'close']) {
      const fields = { number: '1', seen: '', note: 'Asked the provider.' }
      const answer = await admin.submit(page, `${nowhere}/${action}`, fields)
      expect([action, nowhere, answer.status]).toEqual([action, nowhere, 404])
    }
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

// A payment that its customer paid twice, with the task of the second charge.
async function paidTwice() {
  const { invoice_id, tx_reference } = (await post(gateway.url, signedRequest(merchant.test, {}))).body
  await trigger(gateway.url, merchant.test, { invoice_id: String(invoice_id), outcome: 'paid_twice' })
  const { merchant_id } = merchant
  const read = () =>
    gateway.db.one<{ number: number }>(sql`
      select number from tasks join attempts using (merchant_id, attempt_id)
      where merchant_id = ${merchant_id} and tasks.tx_reference = ${tx_reference} and kind = 'refund'`)
  await expect.poll(read, { timeout: 20_000 }).toBeDefined()
  const number = (await read())?.number ?? 0
  const payment = `/dashboard/m/${merchant_id}/test/payments/${tx_reference}`
  return {
    number,
    tx_reference: String(tx_reference),
    page: `${base}/tasks/${merchant_id}/${tx_reference}/refund`,
    payment,
    form: `${payment}/refund?attempt=${number}`,
  }
}

const refundsOf = (tx_reference: string) =>
  gateway.db.rows<{ number: number; source: string; amount: string }>(sql`
    select a.number, r.source, r.amount::text as amount from refunds r join attempts a using (merchant_id, attempt_id)
    where r.tx_reference = ${tx_reference}`)

test('the button of a task refunds exactly its charge, once', async () => {
  const { page, payment, form, number, tx_reference } = await paidTwice()
  expect(await admin.html(page)).toContain(`href="${form}"`)
  expect(await support.html(page)).not.toContain(form)
  expect((await support.get(form)).status).toBe(403)
  const html = await admin.html(form)
  expect(html).toContain(`exactly the charge of attempt ${number}`)
  expect(html).toContain('All that is left: GHS 25.00')
  const fields = { part: 'whole', number: '1', attempt: String(number) }
  const submit = () => admin.submit(form, `${payment}/refund`, fields)
  expect(noticesOf([await submit(), await submit()])).toEqual(['already', 'refunded'])
  expect(await refundsOf(tx_reference)).toEqual([{ number, source: 'surplus', amount: '2500' }])
})

test('the refund of a task waits for a second person, and asks for the password, as any refund', async () => {
  const { payment, form, number, tx_reference } = await paidTwice()
  const { merchant_id } = merchant
  await setMerchant(gateway.db, merchant_id, ['refund_confirm_above=1', 'refund_approval_above=1'])
  const fields = { part: 'whole', number: '1', attempt: String(number) }
  const submit = () => admin.submit(form, `${payment}/refund`, fields)
  await gateway.db.rows(sql`update user_sessions set confirmed_at = null where user_id = ${admin.user_id}`)
  const confirm = decodeURIComponent((await submit()).headers.get('location') ?? '')
  expect(confirm).toContain(`/dashboard/confirm?next=${payment}/refund?`)
  expect(confirm).toContain(`attempt=${number}`)
  await gateway.db.rows(sql`update user_sessions set confirmed_at = now() where user_id = ${admin.user_id}`)
  expect(noticesOf([await submit()])).toEqual(['waiting'])
  expect(await refundsOf(tx_reference)).toEqual([])
  const waits = await gateway.db.rows(sql`
    select attempt_number, source from refund_approvals where tx_reference = ${tx_reference}`)
  expect(waits).toEqual([{ attempt_number: number, source: 'surplus' }])
})

test("a merchant's owner, and a charge that paid its payment, get no such form", async () => {
  const { payment, form, number } = await paidTwice()
  const owner = await signedIn(gateway, { member: { merchant_id: merchant.merchant_id, role: 'owner' } })
  expect((await owner.get(form)).status).toBe(404)
  const other = number === 1 ? 2 : 1
  expect((await admin.get(`${payment}/refund?attempt=${other}`)).status).toBe(404)
  expect((await admin.get(`${payment}/refund?attempt=99`)).status).toBe(404)
})

test('a charge in another currency, or without an amount, leads to its payment and says why', async () => {
  const { page, tx_reference } = await addTask('amount_mismatch')
  const payment = `/dashboard/m/${merchant.merchant_id}/test/payments/${tx_reference}`
  const unknown = await admin.html(page)
  expect(unknown).toContain('It cannot be refunded here')
  expect(unknown).toContain(`href="${payment}"`)
  expect(unknown).not.toContain(`${payment}/refund`)
  expect(unknown).not.toContain('tollgate refund create')
  expect((await admin.get(payment)).status).toBe(200)
  await gateway.db.rows(sql`update attempts set charged = 2500 where tx_reference = ${tx_reference}`)
  expect(await admin.html(page)).toContain(`href="${payment}/refund?attempt=1"`)
  expect((await admin.get(`${payment}/refund?attempt=1`)).status).toBe(200)
  await gateway.db.rows(sql`update tasks set currency = 'USD' where tx_reference = ${tx_reference}`)
  const other = await admin.html(page)
  expect(other).toContain('It cannot be refunded here')
  expect(other).not.toContain(`${payment}/refund`)
})

test('an operator who is also a member of the merchant is told that another operator refunds', async () => {
  const { page, payment, form } = await paidTwice()
  const both = await signedIn(gateway, {
    operator: 'admin',
    member: { merchant_id: merchant.merchant_id, role: 'owner' },
  })
  const html = await both.html(page)
  expect(html).toContain('Another operator can refund this charge')
  expect(html).toContain(`href="${payment}"`)
  expect(html).not.toContain(form)
})
