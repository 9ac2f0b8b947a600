import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { installationSecrets } from '../../src/actions/installation/secrets.ts'
import { onboard } from '../../src/actions/merchants/onboard.ts'
import { setMerchant } from '../../src/actions/merchants/setMerchant.ts'
import { keptReasons } from '../../src/core/redaction/keptReasons.ts'
import { givenMasterKeys } from '../../src/start/masterKeys.ts'
import { type Db, openDb } from '../../src/store/db.ts'
import {
  type FormAction,
  formActions,
  type PreparedForm,
  type World,
} from '../support/dashboard/formActions.ts'
import { type OpenForm, openForm, submitForm } from '../support/dashboard/openForm.ts'
import { type FreshDatabase, migratedDatabase } from '../support/database/database.ts'
import { type GatewayProcess, spawnGateway } from '../support/gateway/gateway.ts'
import { random } from '../support/random.ts'

// kill -9 of a real gateway while users of the dashboard submit every form that changes something. After the restart they
// submit the same forms again, as a user does whose browser has shown an error. Each action happened once, and the audit log
// has one entry for it.

const rounds = 3
const longestMs = 250 // between the forms and the kill
const openedAtOnce = 8

const TOLLGATE_MASTER_KEY = randomBytes(32).toString('hex')
let database: FreshDatabase
let db: Db
let world: World
let gateway: GatewayProcess | undefined

beforeAll(async () => {
  database = await migratedDatabase()
  db = openDb(database.url, 4)
  await start()
  const masterKeys = givenMasterKeys([Buffer.from(TOLLGATE_MASTER_KEY, 'hex')])
  const { formKey } = await installationSecrets(db, masterKeys, new Date())
  const { merchant_id, test: keys } = await onboard(db, masterKeys, 'Ama Shop', ['test'], new Date())
  if (!keys) throw new Error('no test keys')
  await setMerchant(db, merchant_id, ['rate_limit=0'])
  world = { db, masterKeys, formKey, url: () => gateway?.url ?? '', merchant: { merchant_id, test: keys } }
}, 60_000)
afterAll(async () => {
  await gateway?.kill('SIGTERM')
  await db.end()
  await database.drop()
})

const start = async () =>
  (gateway = await spawnGateway({ DATABASE_URL: database.url, TOLLGATE_MASTER_KEY, LOG_LEVEL: 'error' }))

type Opened = { name: string; isRecordedFirst?: true; prepared: PreparedForm; form: OpenForm }

// Not all at once: the dashboard refuses more pages than it takes.
async function openAll(): Promise<Opened[]> {
  const opened: Opened[] = []
  for (let at = 0; at < formActions.length; at += openedAtOnce)
    opened.push(...(await Promise.all(formActions.slice(at, at + openedAtOnce).map(openOne))))
  return opened
}

async function openOne({ name, isRecordedFirst, prepare }: FormAction): Promise<Opened> {
  const prepared = await prepare(world)
  return { name, isRecordedFirst, prepared, form: await openForm(world.url(), prepared) }
}

// How often each happened: by the tables, and by the audit log.
const countsOf = (opened: readonly Opened[]) =>
  Promise.all(
    opened.map(async ({ name, isRecordedFirst, prepared, form }) => {
      const happened = (await db.rows(prepared.happened(form.fields))).length
      const entries = (await db.rows(prepared.entries)).length
      return { name, happened, entries: isRecordedFirst && entries > happened ? happened : entries }
    }),
  )

// As a person does it: too many passwords at once are answered 429. A long erasure continues by the form of its page, and
// names a payment that the killed gateway's transaction still locks.
async function submitAgain(form: OpenForm): Promise<number> {
  let fields = form.fields
  for (;;) {
    const answer = await submitForm(world.url(), { ...form, fields })
    const page = (await answer?.text()) ?? ''
    const [, progress] = /name="progress" value="([^"]+)"/.exec(page) ?? []
    if (answer?.status !== 429 && !progress && !page.includes(keptReasons.busy.en)) return answer?.status ?? 0
    fields = progress ? { ...form.fields, progress } : form.fields
    await sleep(100)
  }
}

test('after kill -9 each action happened once or not at all, and after the same form again once', async () => {
  let unanswered = 0
  for (let round = 0; round < rounds; round++) {
    const opened = await openAll()
    const inAnyOrder = opened.toSorted(() => random() - 0.5)
    const answers = inAnyOrder.map(({ form }) => submitForm(world.url(), form))
    await sleep(random() * longestMs)
    await gateway?.kill('SIGKILL')
    unanswered += (await Promise.all(answers)).filter(answer => answer === undefined).length
    for (const { name, happened, entries } of await countsOf(opened)) {
      expect([name, entries]).toEqual([name, happened])
      expect([name, happened <= 1]).toEqual([name, true])
    }
    await start()
    for (const { name, form } of opened) {
      const status = await submitAgain(form)
      expect([name, status > 0 && status < 500]).toEqual([name, true])
    }
    for (const { name, happened, entries } of await countsOf(opened))
      expect([name, happened, entries]).toEqual([name, 1, 1])
  }
  expect(unanswered).toBeGreaterThan(0)
}, 180_000)
