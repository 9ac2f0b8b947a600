import { webhookIdOf } from '../../src/runtime/channels/webhookId.ts'
import type { Story as MtnStory } from './mtn/book.ts'
import { mtnCredentials, openMtn } from './mtn/mtn.ts'
import { publishedNumbers } from './mtn/numbers.ts'
import { openPaystack } from './paystack/paystack.ts'
import { standing } from './paystack/stories.ts'

// What a person has to know of one of them.
export type Played = {
  name: string
  url: string
  settings: Record<string, string>
  notes: readonly string[]
  numbers: readonly (readonly [number: string, words: string])[]
  others: string
  controls: readonly (readonly [name: string, body: string])[]
  stop(): Promise<void>
}

export type Wish = { port: number; gateway: string }

export async function playPaystack({ port, gateway }: Wish): Promise<Played> {
  const secretKey = 'sk_test_simulated'
  const webhookUrl = `${gateway}/callbacks/account/${webhookIdOf('paystack')}`
  const liveKey = 'sk_live_simulated'
  const { url, stop, business } = await openPaystack({ secretKey, webhookUrl, port })
  business({ secret_key: liveKey })
  return {
    name: 'Paystack',
    url,
    settings: { PAYSTACK_SECRET_KEY: secretKey, PAYSTACK_URL: url },
    notes: [
      `Telephones that are asked: ${url}/`,
      `Refunds, disputes and webhook addresses: ${url}/dashboard`,
      `Webhooks go to ${webhookUrl}`,
      `Live mode: the secret key ${liveKey}. Its webhook address is set on the dashboard, or by business below.`,
      'Telecel asks for a voucher first: 123456. Cards are paid on a page of its own.',
    ],
    numbers: Object.entries(standing).map(
      ([ends, { words }]) => [`0${prefixOf(ends)}${ends}`, words] as const,
    ),
    others: 'any other waits for you',
    controls: [
      ['approve', '"KEY"'],
      ['decline', '{"key":"KEY","says":"Insufficient funds"}'],
      ['rule', '{"amount":"2500","story":{"asks":"send_otp","code":"42"}}'],
      ['hook', '{"key":"KEY","kind":"forged"}'],
      ['reverse', '{"key":"KEY"}'],
      ['refund', '{"key":"KEY","amount":500}'],
      ['dispute', '{"key":"KEY"}'],
      ['resolve', '{"key":"KEY","won":true}'],
      ['refuseKey', '{"http":401}'],
      ['business', `{"secret_key":"${liveKey}","webhook_url":"${gateway}/callbacks/account/ID"}`],
      ['weather', '{"trouble":"maintenance","times":5}'],
      ['book', ''],
    ],
    stop,
  }
}

export async function playMtn({ port }: Wish): Promise<Played> {
  const { url, stop } = await openMtn({ environment: 'sandbox' }, port)
  return {
    name: 'MTN MoMo, as its sandbox',
    url,
    settings: {
      MTN_SUBSCRIPTION_KEY: mtnCredentials.subscriptionKey,
      MTN_API_USER: mtnCredentials.apiUser,
      MTN_API_KEY: mtnCredentials.apiKey,
      MTN_URL: url,
    },
    notes: ['It knows euros alone, and gets the same figure as those.'],
    numbers: publishedNumbers.map(({ number = '', story }) => [number, endingOf(story)] as const),
    others: 'any other is paid at once',
    controls: [
      ['rule', '{"number":"233244123456","story":{}}'],
      ['open', ''],
      ['approve', '"KEY"'],
      ['decline', '"KEY"'],
      ['end', '{"key":"KEY","status":"FAILED","reason":"EXPIRED"}'],
      ['callBack', '{"key":"KEY","times":2}'],
      ['expireTokens', ''],
      ['weather', '{"trouble":"maintenance","times":5}'],
      ['book', ''],
    ],
    stop,
  }
}

// The words that it says.
function endingOf({ ends, submit, first, afterReads }: MtnStory): string {
  const said = typeof submit === 'object' ? submit : undefined
  const { code } = (said?.body ?? {}) as { code?: string }
  const before = first ?? (afterReads ? 'PENDING' : undefined)
  const end = code ? `HTTP ${said?.status}, ${code}` : [ends?.status, ends?.reason].filter(Boolean).join(', ')
  return before ? `${before}, then ${end}` : end
}

const prefixOf = (ends: string) => (ends === '1234987' ? '55' : '24')
