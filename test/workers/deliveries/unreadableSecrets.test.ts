import { beforeAll, expect, test } from 'vitest'
import type { OutboundRequest } from '../../../src/net/outbound.ts'
import { sql } from '../../../src/store/db.ts'
import { seconds } from '../../support/payments/rows.ts'
import { fakeOutbound, referenceOf, acknowledge } from './answers.ts'
import { dispatchAll, useDeliveryFixture } from './fixture.ts'

// A secret of one merchant cannot be decrypted or read. Other merchants are not affected.
const fixture = useDeliveryFixture(2)
let ama: string
let kofi: string
beforeAll(() => void ([ama, kofi] = fixture.ids as [string, string]))

function open() {
  const sent: OutboundRequest[] = []
  const dispatcher = fixture.dispatcher(
    fakeOutbound(request => {
      sent.push(request)
      return acknowledge()
    }),
  )
  return { sent, dispatcher }
}

test('settings that cannot be read: notifications are signed and sent', async () => {
  await fixture.db.rows(sql`
    update merchants set settings = '{"contact_email": 7, "ipn_style": "hologram"}' where merchant_id = ${ama}`)
  const references = [await fixture.notify({ merchant_id: ama }), await fixture.notify({ merchant_id: kofi })]
  const { sent, dispatcher } = open()
  await dispatchAll(dispatcher)
  expect(sent.map(referenceOf).toSorted()).toEqual(references.toSorted())
  expect(sent.every(({ headers }) => headers['webhook-signature'])).toBe(true)
  expect(fixture.troubles).toEqual([])
})

test('a secret that cannot be decrypted: nothing of this merchant is sent unsigned, and everything of the other merchants is sent', async () => {
  const [{ sealed_secret } = { sealed_secret: Buffer.alloc(0) }] = await fixture.db.rows<{
    sealed_secret: Buffer
  }>(sql`select sealed_secret from ipn_secrets where merchant_id = ${ama} and mode = 'test'`)
  const seal = (secret: Buffer) =>
    fixture.db.rows(
      sql`update ipn_secrets set sealed_secret = ${secret} where merchant_id = ${ama} and mode = 'test'`,
    )
  await seal(Buffer.from('no secret'))
  const [mine, others] = [
    await fixture.notify({ merchant_id: ama }),
    await fixture.notify({ merchant_id: kofi }),
  ]
  const first = open()
  await dispatchAll(first.dispatcher)
  expect(first.sent.map(referenceOf)).toEqual([others])
  expect(fixture.troubles.map(String)).toEqual([
    expect.stringContaining(`of merchant ${ama} cannot be signed`),
  ])
  await seal(sealed_secret)
  fixture.pass(seconds(31))
  const second = open()
  await dispatchAll(second.dispatcher)
  expect(second.sent.map(referenceOf)).toEqual([mine])
  expect(second.sent.every(({ headers }) => headers['webhook-signature'])).toBe(true)
})

test('a password that cannot be decrypted: nothing in style basic is sent, and everything else is', async () => {
  const own = JSON.stringify({ ipn_url: 'https://shop.example/ipn' })
  await fixture.db.rows(sql`update merchants set settings = ${own}::jsonb`)
  await fixture.db.rows(sql`
    update merchants set sealed_test_ipn_password = 'no password' where merchant_id = ${ama}`)
  const mine = await fixture.notify({ merchant_id: ama, style: 'basic' })
  const rest = [
    await fixture.notify({ merchant_id: ama }),
    await fixture.notify({ merchant_id: kofi, style: 'basic' }),
  ]
  const elsewhere = await fixture.notify({
    merchant_id: ama,
    style: 'basic',
    url: 'https://else.example/ipn',
  })
  rest.push(elsewhere) // needs no password
  const first = open()
  await dispatchAll(first.dispatcher)
  expect(first.sent.map(referenceOf).toSorted()).toEqual(rest.toSorted())
  expect(first.sent.find(one => referenceOf(one) === elsewhere)?.headers).not.toHaveProperty('authorization')
  expect(fixture.withheld).toEqual([`${elsewhere}-N1`])
  expect(fixture.troubles.map(String)).toEqual([
    expect.stringContaining(`of merchant ${ama} cannot be decrypted`),
  ])
  await fixture.db.rows(sql`update merchants set sealed_test_ipn_password = null where merchant_id = ${ama}`)
  fixture.pass(seconds(31))
  const second = open()
  await dispatchAll(second.dispatcher)
  expect(second.sent.map(referenceOf)).toEqual([mine])
  expect(second.sent[0]?.headers.authorization).toMatch(/^Basic /)
})
