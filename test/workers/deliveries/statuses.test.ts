import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Result } from '../../../src/core/notification/delivery.ts'
import { createOutbound } from '../../../src/net/outbound.ts'
import { type Answering, openReceiver, type Receiver } from '../../support/merchant/receiver.ts'
import { dispatchAll, openDeliveryFixture, type DeliveryFixture } from './fixture.ts'

let fixture: DeliveryFixture
let receiver: Receiver
const outbound = createOutbound()
beforeAll(async () => {
  fixture = await openDeliveryFixture(1)
  receiver = await openReceiver()
})
afterAll(async () => {
  await outbound.close()
  await receiver.close()
  await fixture.close()
})

async function resultOf(answer: Answering) {
  receiver.answerWith(answer)
  const before = receiver.received.length
  const url = `${receiver.url}/ipn`
  const tx_reference = await fixture.notify({ merchant_id: fixture.ids[0] as string, url })
  await dispatchAll(fixture.dispatcher(outbound))
  const delivery = (await fixture.deliveries()).find(one => one.tx_reference === tx_reference)
  const [log] = (await fixture.tries()).filter(one => one.tx_reference === tx_reference)
  return { delivery, log, requests: receiver.received.slice(before) }
}

const wordOf = (status: number): Result => {
  if (status === 200) return 'acknowledged'
  if (status === 429) return 'busy'
  return (['other_2xx', 'redirect', 'refused', 'server_error'] as const)[
    Math.floor(status / 100) - 2
  ] as Result
}

test('of all statuses from 200 to 599 only 200 acknowledges, and no redirect is followed', async () => {
  const wrong: unknown[] = []
  for (let status = 200; status < 600; status++) {
    const { delivery, log, requests } = await resultOf((_, response) => {
      response.writeHead(status, { location: `${receiver.url}/elsewhere` }).end(`said ${status}`)
    })
    const isRight =
      requests.length === 1 &&
      requests[0]?.path === '/ipn' &&
      log?.status === status &&
      log.result === wordOf(status) &&
      delivery?.last_result === wordOf(status) &&
      (delivery.acknowledged_at !== null) === (status === 200) &&
      (delivery.next_try_at === null) === (status === 200) &&
      delivery.retry === (status !== 200)
    if (!isRight) wrong.push({ status, delivery, log, requests })
  }
  expect(wrong).toEqual([])
})

const notHttp: [string, Result, Answering][] = [
  ['hangs up', 'no_connection', (_, __, incoming) => void incoming.socket.destroy()],
  ['answers garbage', 'bad_answer', (_, __, incoming) => void incoming.socket.end('hello there\r\n\r\n')],
  ['answers half a header', 'bad_answer', (_, __, incoming) => void incoming.socket.end('HTTP/1.1 200 O')],
]
for (const [what, word, answer] of notHttp)
  test(`an endpoint that ${what} does not acknowledge: ${word}`, async () => {
    const { delivery, log } = await resultOf(answer)
    expect(log).toMatchObject({ status: null, result: word })
    expect(log?.words).not.toBe('')
    expect(delivery).toMatchObject({ last_result: word, acknowledged_at: null, retry: true })
  })

test('200 acknowledges although its body never ends', async () => {
  const { delivery } = await resultOf((_, response) => {
    const more = setInterval(() => response.write('more '), 5)
    response.on('close', () => clearInterval(more))
  })
  expect(delivery?.last_result).toBe('acknowledged')
})

test('the log has the status, the address and the first 4 KiB of the answer', async () => {
  const { log } = await resultOf((_, response) => void response.writeHead(500).end('x'.repeat(10_000)))
  expect(log).toMatchObject({ try: 1, status: 500, result: 'server_error', address: '127.0.0.1' })
  expect(log?.answer?.toString()).toBe('x'.repeat(4096))
})
