import { setTimeout as sleep } from 'node:timers/promises'
import { onboard } from '../../../src/actions/merchants/onboard.ts'
import { setMerchant } from '../../../src/actions/merchants/setMerchant.ts'
import { sql } from '../../../src/store/db.ts'
import type { TestGateway, TestMerchant } from '../gateway/gateway.ts'
import { post, send, signedRequest } from '../merchant/merchant.ts'

type Fields = Record<string, string>

export const shopOrigin = 'http://shop.localhost'
const order = {
  description: 'Two straw hats, order 1042',
  success_url: `${shopOrigin}/thanks?order=1042`,
  cancelled_url: `${shopOrigin}/cart`,
}
const settleMs = 15_000

export const wallet = (phone: string) => ({
  payment_method: 'mtn_mobile_money',
  'mtn_mobile_money.phone': phone,
})

export const postForm = (url: string, fields: Fields) =>
  send(url, { method: 'POST', body: new URLSearchParams(fields) })

// Merchants and payments through the real HTTP interface.
export function shopOf(gateway: TestGateway) {
  const at = (path: string) => `${gateway.url}/checkout/${path}`
  return {
    at,
    async merchant(name: string, ...settings: string[]) {
      const { db, masterKeys } = gateway
      const merchant = (await onboard(db, masterKeys, name, ['test', 'live'], new Date())) as TestMerchant
      await setMerchant(db, merchant.merchant_id, settings)
      return merchant
    },
    // A payment's token.
    async ask(merchant: TestMerchant, fields: Record<string, unknown> = {}, mode: 'test' | 'live' = 'test') {
      const { body, text } = await post(gateway.url, signedRequest(merchant[mode], fields))
      if (!body.tx_token) throw new Error(`no payment: ${text}`)
      return body.tx_token as string
    },
    pay: (token: string, way: Fields, number = 1) =>
      postForm(at(`${token}/pay`), { number: String(number), ...way }),
    async until(token: string, stage: string) {
      const giveUpAt = Date.now() + settleMs
      for (;;) {
        const { body } = await send(at(`${token}/state`))
        if (body.stage === stage) return token
        if (Date.now() > giveUpAt) throw new Error(`waited for ${stage}, it is ${body.stage}`)
        await sleep(30)
      }
    },
    async attempt(token: string) {
      const row = await gateway.db.one<{ attempt_id: string }>(sql`
        select attempt_id from attempts join payments using (merchant_id, tx_reference)
        where tx_token = ${token} order by attempts.number desc limit 1`)
      return row?.attempt_id ?? ''
    },
    async reference(token: string) {
      const row = await gateway.db.one<{ tx_reference: string }>(sql`
        select tx_reference from payments where tx_token = ${token}`)
      return row?.tx_reference ?? ''
    },
  }
}

export type Time = { run(): void; stop(at: Date): void }

// A payment in every state that has a page, as tokens. First the clock runs, so that payments can end; then it stops, so
// that pending ones stay pending and screenshots are comparable.
export async function preparePayments(gateway: TestGateway, time: Time) {
  const shop = shopOf(gateway)
  const ama = await shop.merchant('Ama Shop', 'retry_after_failure=on')
  const strict = await shop.merchant('Ama Shop', 'retry_after_failure=off')
  const shut = await shop.merchant('Ama Shop')
  const railed = await shop.merchant('Ama Shop', 'providers=paystack')

  // The clock runs.
  time.stop(new Date(Date.now() - 2 * 60 * 60_000))
  const expired = await shop.ask(ama, order)
  time.run()
  const tryOnce = async (
    merchant: TestMerchant,
    phone: string,
    stage: string,
    number = 1,
    token?: string,
  ) => {
    const payment = token ?? (await shop.ask(merchant, order))
    await shop.pay(payment, wallet(phone), number)
    return shop.until(payment, stage)
  }
  const card = async (number: string) => {
    const token = await shop.ask(ama, order)
    await shop.pay(token, { payment_method: 'card' })
    const charge = await shop.attempt(token)
    await postForm(`${gateway.url}/sandbox/card/${charge}`, {
      number,
      expiry: '09/40',
      cvv: '123',
      name: 'Ama',
    })
    return { token, charge }
  }
  const [failed, over, disputed, paid, paidStrict, paidByCard] = await Promise.all([
    tryOnce(ama, '0244123002', 'failed'),
    tryOnce(strict, '0244123002', 'over'),
    tryOnce(ama, '0244123009', 'disputed'),
    tryOnce(ama, '0244123000', 'paid'),
    tryOnce(strict, '0244123000', 'paid'),
    card('4111111111111111'),
  ])
  await shop.until(paidByCard.token, 'paid')
  const crowded = await tryOnce(ama, '0244777002', 'failed')
  await fillUp(gateway, await shop.attempt(crowded), await shop.reference(expired))
  const hurried = await tryOnce(ama, '0244888002', 'failed')
  await tryOnce(ama, '0244888002', 'failed', 2, hurried)

  // The clock is stopped.
  time.stop(new Date())
  const start = async (way: Fields, fields: Record<string, unknown> = {}, merchant = ama) => {
    const token = await shop.ask(merchant, { ...order, ...fields })
    await shop.pay(token, way)
    return token
  }
  const waiting = await start(wallet('0244123456'))
  const declined = await start(wallet('0244123457'))
  await postForm(`${gateway.url}/sandbox/phone/${await shop.attempt(declined)}`, { decision: 'decline' })
  const wished = await shop.ask(strict, order)
  await shop.pay(wished, wallet('0244123458'))
  await postForm(shop.at(`${wished}/cancel`), {})
  const cancelled = await shop.ask(strict, order)
  await postForm(shop.at(`${cancelled}/cancel`), {})
  const cancelledOwn = await shop.ask(ama, order)
  await postForm(shop.at(`${cancelledOwn}/cancel`), {})
  const cardWaits = await start({ payment_method: 'card' })
  const cardBack = await start({ payment_method: 'card' })
  await send(shop.at(`${cardBack}?back=1`))
  const secure = await card('4242424242424242')
  const closed = await shop.ask(shut, order)
  await gateway.deactivate(shut.merchant_id)
  const fresh = await shop.ask(ama, order)
  const unknown = await start(wallet('0244123456'), { total: '0.02' })
  const qr = await start({ payment_method: 'ghqr' })
  const live = await shop.ask(ama, order, 'live')
  const giveUp = (token: string) => postForm(shop.at(`${token}/give-up`), { for: 'number', number: '1' })
  const withdrawn = await start(wallet('0244123459'))
  await giveUp(withdrawn)
  const givenUp = await start(wallet('0244123006')) // it is answered automatically, so it is not withdrawn
  await giveUp(givenUp)
  const known = await shop.ask(ama, { ...order, number: '0201234567', total: '123456.78' })

  const emailed = { email: 'kofi@example.test' }
  const step = await start(wallet('0240000008'), emailed, railed)
  const stepAgain = await start(wallet('0540000008'), emailed, railed)
  await postForm(shop.at(`${stepAgain}/step`), { number: '1', submits: '0', otp: '111111' })
  const telecel = { payment_method: 'telecel_cash', 'telecel_cash.phone': '0201234567' }
  const stepVoucher = await start(telecel, emailed, railed)
  const stepNoneLeft = await start(wallet('0550000008'), emailed, railed)
  await gateway.db.rows(sql`
    update attempts set submits = 5, submitted_at = created_at where attempt_id = ${await shop.attempt(stepNoneLeft)}`)
  const asksEmail = await shop.ask(railed, { ...order, number: '0244123456' })

  await Promise.all([ama, strict].map(one => shop.ask(one, { ...order, invoice_id: 'AMA-1042' })))
  // Registered only now: an address elsewhere is refused from then on, and those that are there lead on by a button.
  await setMerchant(gateway.db, strict.merchant_id, ['allowed_origins=https://ama.example'])
  return {
    fresh,
    known,
    live,
    expired,
    failed,
    hurried,
    crowded,
    over,
    disputed,
    paid,
    paidStrict,
    paidByCard,
    waiting,
    unknown,
    qr,
    cardWaits,
    cardBack,
    givenUp,
    withdrawn,
    secure,
    declined,
    step,
    stepAgain,
    stepVoucher,
    stepNoneLeft,
    asksEmail,
    cancelled,
    cancelledOwn,
    wished,
    closed,
  }
}

// As many failures of one wallet as the limit counts, put to a payment that is over.
const fillUp = (gateway: TestGateway, attempt_id: string, tx_reference: string) =>
  gateway.db.rows(sql`
    insert into attempts (merchant_id, attempt_id, tx_reference, number, provider_account, payment_method, state, reason,
      instrument, created_at, updated_at, ended_at)
    select merchant_id, attempt_id || n, ${tx_reference}, n, provider_account, payment_method, state, reason, instrument,
      created_at, updated_at, ended_at
    from attempts, generate_series(1, 200) n where attempt_id = ${attempt_id}`)
