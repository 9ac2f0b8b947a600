import { webhookIdOf } from '../../src/runtime/channels/webhookId.ts'
import type { Story as MtnStory } from './mtn/book.ts'
import { mtnCredentials, openMtn } from './mtn/mtn.ts'
import { ghanaNumbers, publishedNumbers } from './mtn/numbers.ts'
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

export type Wish = { port: number; gateway: string; isLive?: boolean }

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

// The sandbox's own numbers are no phone numbers, so they are typed with the plus; those of Ghana as a customer does.
export async function playMtn({ port, gateway, isLive = false }: Wish): Promise<Played> {
  const environment = isLive ? 'mtnghana' : 'sandbox'
  const { url, stop } = await openMtn({ environment, ...(isLive && { callbacksTo: gateway }) }, port)
  const rules = isLive ? ghanaNumbers : [...publishedNumbers, ...ghanaNumbers]
  return {
    name: `MTN MoMo, as its ${isLive ? 'live market in Ghana' : 'sandbox'}`,
    url,
    settings: {
      MTN_SUBSCRIPTION_KEY: mtnCredentials.subscriptionKey,
      MTN_API_USER: mtnCredentials.apiUser,
      MTN_API_KEY: mtnCredentials.apiKey,
      ...(isLive && { MTN_ENVIRONMENT: environment }),
      MTN_URL: url,
    },
    notes: isLive
      ? [
          'It takes cedis, and callbacks to an https address alone.',
          `For callbacks: MTN_CALLBACKS=on and an https TOLLGATE_BASE_URL; they are delivered to ${gateway}.`,
        ]
      : ['It knows euros alone, and gets the same figure as those.'],
    numbers: rules.map(({ number = '', story }) => [typedAs(number), endingOf(story)] as const),
    others: isLive ? 'any other waits for approve or decline' : 'any other is paid at once',
    controls: [
      ['rule', '{"number":"233244123456","story":{}}'],
      ['open', ''],
      ['approve', '"KEY"'],
      ['decline', '"KEY"'],
      ['end', '{"key":"KEY","status":"FAILED","reason":"EXPIRED"}'],
      ['callBack', '{"key":"KEY","times":2}'],
      ['expireTokens', ''],
      ['wrongKeyAs', '500'],
      ['notFoundAs', '400'],
      ['weather', '{"trouble":"maintenance","times":5}'],
      ['weather', '{"trouble":"maintenance","at":"/collection/token/"}'],
      ['weather', ''],
      ['book', ''],
    ],
    stop,
  }
}

const typedAs = (number: string) => (number.startsWith('233') ? `0${number.slice(3)}` : `+${number}`)

// The words that it says.
function endingOf({ ends, submit, first, afterReads, told, isTaken, isUsedUp }: MtnStory): string {
  const said = typeof submit === 'object' ? submit : undefined
  const before = first ?? (afterReads ? 'PENDING' : undefined)
  const amount = told?.amount === undefined ? undefined : `amount ${String(told.amount)}`
  const end = [ends?.status, ends?.reason, amount].filter(Boolean).join(', ')
  if (!said) return before ? `${before}, then ${end}` : end
  const reference = isTaken === false ? ` (the reference is ${isUsedUp === false ? 'not ' : ''}used up)` : ''
  return `HTTP ${said.status}${codeIn(said.body)}${reference}${isTaken === false ? '' : `, taken all the same: ${end}`}`
}

function codeIn(body: string | object = ''): string {
  if (typeof body === 'string') return body.startsWith('<') ? ', a page in HTML' : ''
  const { code } = body as { code?: string }
  return code ? `, ${code}` : ''
}

const prefixOf = (ends: string) => (ends === '1234987' ? '55' : '24')
