import assert from 'node:assert/strict'
import { describe, expect, test } from 'vitest'
import type { ProviderAccount } from '../../../src/core/provider/provider.ts'
import type { PaymentMethod } from '../../../src/core/provider/paymentMethod.ts'
import type { Webhook } from '../../../src/core/provider/webhook.ts'
import { secretsOf } from './settings.ts'
import type { Stage } from './stage.ts'

const patient = () => AbortSignal.timeout(30_000)

// What concerns an account as a whole: its webhooks, and whether its settings are good.
export function accountStories(stage: Stage) {
  const { name, kind, bench, connect, said, methods: ways } = stage
  const [method] = ways
  assert.ok(method)

  async function hearer() {
    const { raw, order } = await connect()
    const { webhook } = bench()
    expect(Boolean(webhook)).toBe(Boolean(raw.handleWebhook)) // a provider that hears needs a provider that speaks
    return (
      webhook && { hear: (one: Webhook) => hearing(raw, one), sent: order(method as PaymentMethod), webhook }
    )
  }

  describe(`${name}: webhooks`, () => {
    test('what the provider has signed is heard, and names its order by the key', async () => {
      const all = await hearer()
      if (!all) return
      const { hear, sent, webhook } = all
      expect(hear(webhook(sent))).toMatchObject([{ idempotency_key: sent.idempotency_key }])
    })

    test('forged, altered in one byte, or signed for another account: it is not', async () => {
      const all = await hearer()
      if (!all) return
      const { hear, sent, webhook } = all
      const good = webhook(sent)
      expect(hear({ ...good, headers: { 'content-type': 'application/json' } })).toBeUndefined()
      expect(hear(webhook(sent, 'another'))).toBeUndefined()
      for (const at of [0, Math.floor(good.body.length / 2), good.body.length - 1]) {
        const body = Buffer.from(good.body)
        body[at] = (body[at] ?? 0) ^ 1
        expect(hear({ ...good, body })).toBeUndefined()
      }
    })

    test('what is no webhook at all is not', async () => {
      const all = await hearer()
      if (!all) return
      for (const body of ['', '{', 'null', '[]', '\u0000', '{"event":{}}'])
        expect(
          all.hear({ path: '', headers: {}, body: Buffer.from(body), address: '127.0.0.1' }),
        ).toBeUndefined()
    })
  })

  describe(`${name}: whether the settings are good`, () => {
    test('good ones are', async () => {
      const { raw } = await connect()
      if (raw.checkCredentials)
        expect(await raw.checkCredentials(patient())).toMatchObject({ isValid: true, words: sentence })
    })

    test('wrong ones are told in words', async () => {
      for (const { settings: wrong, words } of bench().wrongSettings ?? []) {
        const { raw } = await connect(wrong)
        expect(await raw.checkCredentials?.(patient())).toMatchObject({
          isValid: false,
          words: expect.stringMatching(words),
        })
      }
    })

    test('nobody there, or an answer that is none, too', async () => {
      const { raw, line } = await connect()
      if (!raw.checkCredentials) return
      line.mischief = 'page'
      expect(await raw.checkCredentials(patient())).toMatchObject({ isValid: false, words: sentence })
      await line.stop()
      expect(await raw.checkCredentials(patient())).toMatchObject({
        isValid: false,
        unreachable: true,
        words: sentence,
      })
    })
  })

  // Not beside others: all who use this provider are refused.
  test(`${name}: a token that is refused is made anew, and the order goes on`, async () => {
    const { expireTokens } = bench()
    if (!expireTokens) return
    const { account, order } = await connect()
    const sent = order(method)
    await account.start(sent)
    await expireTokens()
    expect(await account.check(sent)).toMatchObject({ state: 'pending' })
    await expireTokens()
    expect(await account.start(order(method))).toMatchObject({ state: 'pending' })
  })

  // The last: all that was said above.
  test(`${name}: no secret and no phone number stands in what was answered or thrown`, () => {
    expect(said.length).toBeGreaterThan(0)
    const all = said.join('\n')
    const settings = bench().settings('http://127.0.0.1:1')
    for (const secret of secretsOf({ kind, settings })) expect(all).not.toContain(secret)
    for (const one of ways)
      for (const { name: field, kind: what } of one.fields)
        if (what === 'phone') expect(all).not.toContain(bench().given(one)[field]?.slice(-9))
  })
}

const sentence = expect.stringMatching(/^\S.*[.]$/)

function hearing({ handleWebhook: hear }: ProviderAccount, webhook: Webhook) {
  assert.ok(hear)
  return hear(webhook)
}
