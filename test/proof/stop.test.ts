import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { migratedDatabase } from '../support/database/database.ts'
import { spawnGateway, testGateway } from '../support/gateway/gateway.ts'
import { send } from '../support/merchant/merchant.ts'
import { dial, get, type RawSocket } from '../support/gateway/rawHttp.ts'

// The interface, pages, files, and what is refused.
const paths = [
  '/v1/gateway/json_status_chk?merchant_key=tk_none&invoice_id=1',
  '/v1/events',
  '/checkout/none',
  '/public/checkout.css',
  '/healthz',
  '/nothing',
]

type Busy = { client: RawSocket; sent: number }

// Sends the next request as soon as the last is answered, until it is told that this was the last answer.
async function keepBusy(url: string, n: number): Promise<Busy> {
  const client = await dial(url)
  const busy = { client, sent: 0 }
  const next = () => client.socket.write(get(paths[(n + busy.sent++) % paths.length] ?? ''))
  client.socket.on('data', () => {
    const answers = client.answers()
    if (answers.length === busy.sent && !answers.at(-1)?.closes) next()
  })
  next()
  return busy
}

const keepAllBusy = (url: string) => Promise.all(Array.from({ length: 32 }, (_, n) => keepBusy(url, n)))

async function expectCleanEnds(crowd: Busy[]) {
  await Promise.all(crowd.map(({ client }) => client.ended))
  for (const { client, sent } of crowd) {
    expect(client.errors).toEqual([])
    expect(client.answers().length).toBe(sent)
    expect(client.answers().findIndex(({ closes }) => closes)).toBe(sent - 1)
  }
}

test('a stop cuts nobody: 32 busy connections get their last answers, and each is told that it is the last', async () => {
  const gateway = await testGateway()
  const crowd = await keepAllBusy(gateway.url)
  await sleep(300)
  await Promise.all([gateway.stop(), expectCleanEnds(crowd)])
})

test('without a terminal a stop is announced for a while, unless it is asked for twice', async () => {
  const database = await migratedDatabase()
  const env = { DATABASE_URL: database.url, TOLLGATE_MASTER_KEY: 'ab'.repeat(32), TOLLGATE_STOP_SECONDS: '' }
  const gateway = await spawnGateway(env)
  void gateway.kill('SIGTERM')
  await sleep(800) // a second wish within half a second would be the first one, passed on
  expect(await send(`${gateway.url}/readyz`)).toMatchObject({ http: 503, text: 'not ready: stopping' })
  await gateway.kill('SIGTERM')
  expect(gateway.child.exitCode).toBe(130)
  await database.drop()
})

test('a node that is told to stop says so at /readyz first, and serves on for the time that is set', async () => {
  const database = await migratedDatabase()
  const env = { DATABASE_URL: database.url, TOLLGATE_MASTER_KEY: 'ab'.repeat(32), TOLLGATE_STOP_SECONDS: '5' }
  const gateway = await spawnGateway(env)
  const crowd = await keepAllBusy(gateway.url)
  const idle = await dial(gateway.url)
  await sleep(300)
  const stopped = gateway.kill('SIGTERM')
  await expect
    .poll(() => send(`${gateway.url}/readyz`))
    .toMatchObject({ http: 503, text: 'not ready: stopping' })
  const served = ['/healthz', '/public/checkout.css', '/docs', '/checkout/none', '/v1/events']
  const answers = await Promise.all(served.map(path => send(gateway.url + path)))
  for (const [at, { http, headers }] of answers.entries()) {
    expect(http, served[at]).toBeLessThan(500)
    expect(headers.get('connection'), served[at]).toBe('close')
  }
  await Promise.all([stopped, expectCleanEnds(crowd), idle.ended])
  expect(idle.errors).toEqual([])
  expect(gateway.child.exitCode).toBe(0)
  await database.drop()
})
