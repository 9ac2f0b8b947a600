import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { OutboundRequest } from '../../../src/net/outbound.ts'
import { sql } from '../../../src/store/db.ts'
import { noon, seconds } from '../../support/payments/rows.ts'
import { playedOutbound, referenceOf, thanks } from './answers.ts'
import { carryAll, openPost, type Post } from './post.ts'

// What signs for one merchant cannot be opened or read; the others know nothing of it.
let post: Post
let ama: string
let kofi: string
beforeAll(async () => {
  post = await openPost(2)
  ;[ama, kofi] = post.ids as [string, string]
})
beforeEach(async () => {
  await post.db.rows(sql`truncate deliveries, notifications, tries`)
  post.setNow(noon)
  post.troubles.length = 0
})
afterAll(() => post.close())

function open() {
  const sent: OutboundRequest[] = []
  const dispatcher = post.dispatcher(
    playedOutbound(request => {
      sent.push(request)
      return thanks()
    }),
  )
  return { sent, dispatcher }
}

test('settings that cannot be read: notifications are signed and sent', async () => {
  await post.db.rows(sql`
    update merchants set settings = '{"contact_email": 7, "ipn_style": "hologram"}' where merchant_id = ${ama}`)
  const told = [await post.tell({ merchant_id: ama }), await post.tell({ merchant_id: kofi })]
  const { sent, dispatcher } = open()
  await carryAll(dispatcher)
  expect(sent.map(referenceOf).toSorted()).toEqual(told.toSorted())
  expect(sent.every(({ headers }) => headers['webhook-signature'])).toBe(true)
  expect(post.troubles).toEqual([])
})

test('a secret that cannot be opened: nothing of this merchant leaves unsigned, and all of the others', async () => {
  const [{ sealed_secret } = { sealed_secret: Buffer.alloc(0) }] = await post.db.rows<{
    sealed_secret: Buffer
  }>(sql`select sealed_secret from ipn_secrets where merchant_id = ${ama} and mode = 'test'`)
  const seal = (secret: Buffer) =>
    post.db.rows(
      sql`update ipn_secrets set sealed_secret = ${secret} where merchant_id = ${ama} and mode = 'test'`,
    )
  await seal(Buffer.from('no secret'))
  const [mine, others] = [await post.tell({ merchant_id: ama }), await post.tell({ merchant_id: kofi })]
  const first = open()
  await carryAll(first.dispatcher)
  expect(first.sent.map(referenceOf)).toEqual([others])
  expect(post.troubles.map(String)).toEqual([expect.stringContaining(`of merchant ${ama} cannot be signed`)])
  await seal(sealed_secret)
  post.pass(seconds(31))
  const second = open()
  await carryAll(second.dispatcher)
  expect(second.sent.map(referenceOf)).toEqual([mine])
  expect(second.sent.every(({ headers }) => headers['webhook-signature'])).toBe(true)
})

test('a password that cannot be opened: nothing in style basic leaves with another, and all the rest does', async () => {
  const own = JSON.stringify({ ipn_url: 'https://shop.example/ipn' })
  await post.db.rows(sql`update merchants set settings = ${own}::jsonb`)
  await post.db.rows(sql`
    update merchants set sealed_test_ipn_password = 'no password' where merchant_id = ${ama}`)
  const mine = await post.tell({ merchant_id: ama, style: 'basic' })
  const rest = [await post.tell({ merchant_id: ama }), await post.tell({ merchant_id: kofi, style: 'basic' })]
  const elsewhere = await post.tell({ merchant_id: ama, style: 'basic', url: 'https://else.example/ipn' })
  rest.push(elsewhere) // needs no password
  const first = open()
  await carryAll(first.dispatcher)
  expect(first.sent.map(referenceOf).toSorted()).toEqual(rest.toSorted())
  expect(first.sent.find(one => referenceOf(one) === elsewhere)?.headers).not.toHaveProperty('authorization')
  expect(post.withheld).toEqual([`${elsewhere}-N1`])
  expect(post.troubles.map(String)).toEqual([expect.stringContaining(`of merchant ${ama} cannot be opened`)])
  await post.db.rows(sql`update merchants set sealed_test_ipn_password = null where merchant_id = ${ama}`)
  post.pass(seconds(31))
  const second = open()
  await carryAll(second.dispatcher)
  expect(second.sent.map(referenceOf)).toEqual([mine])
  expect(second.sent[0]?.headers.authorization).toMatch(/^Basic /)
})
