import type { Mode } from '../../src/core/mode.ts'
import { webhookIdOf } from '../../src/runtime/providers/accounts.ts'
import type { Story as MtnStory } from './mtn/charges.ts'
import { disbursementCredentials, mtnCredentials, openMtn } from './mtn/mtn.ts'
import { ghanaNumbers, publishedNumbers } from './mtn/numbers.ts'
import { openPaystack } from './paystack/paystack.ts'
import { standing } from './paystack/stories.ts'

// What `npm run simulate` prints about one simulator.
export type SimulatedAccount = {
  name: string
  url: string
  add: string // the command that stores an account there
  webhook?: string // the command that sets the webhook address, as the provider's dashboard would
  settings?: Record<string, string> // the same account by environment variables
  notes: readonly string[]
  numbers: readonly (readonly [number: string, words: string])[]
  others: string
  controls: readonly (readonly [name: string, body: string])[]
  stop(): Promise<void>
}

export type SimulatedAccountOptions = { port: number; gateway: string }

const paystackControls = [
  ['approve', '"KEY"'],
  ['decline', '{"key":"KEY","says":"Insufficient funds"}'],
  ['rule', '{"amount":"2500","story":{"asks":"send_otp","code":"42"}}'],
  ['hook', '{"key":"KEY","kind":"forged"}'],
  ['reverse', '{"key":"KEY"}'],
  ['refund', '{"key":"KEY","amount":500}'],
  ['refundRule', '{"amount":"500","story":{"first":"needs-attention","ends":"never"}}'],
  ['dispute', '{"key":"KEY"}'],
  ['resolve', '{"key":"KEY","won":true}'],
  ['refuseKey', '{"http":401}'],
  ['weather', '{"trouble":"maintenance","times":5}'],
  ['book', ''],
] as const

const mtnControls = [
  ['open', ''],
  ['approve', '"KEY"'],
  ['decline', '"KEY"'],
  ['rule', '{"number":"233244123456","story":{}}'],
  ['end', '{"key":"KEY","status":"FAILED","reason":"EXPIRED"}'],
  ['callBack', '{"key":"KEY","times":2}'],
  ['refundRule', '{"amount":"5.00","story":{"submit":"cut","ends":{"status":"SUCCESSFUL"}}}'],
  ['float', '10'],
  ['refundBook', ''],
  ['expireTokens', ''],
  ['wrongKeyAs', '500'],
  ['notFoundAs', '400'],
  ['weather', '{"trouble":"maintenance","times":5}'],
  ['weather', '{"trouble":"maintenance","at":"/collection/token/"}'],
  ['weather', ''],
  ['book', ''],
] as const

export async function simulatedPaystack(
  mode: Mode,
  { port, gateway }: SimulatedAccountOptions,
): Promise<SimulatedAccount> {
  const secretKey = `sk_${mode}_simulated`
  const ofEnvironment = `${gateway}/callbacks/account/${webhookIdOf('paystack')}`
  const webhookUrl = mode === 'test' ? ofEnvironment : undefined // a live account is stored in the database, and has its own webhook address
  const { url, stop } = await openPaystack({ secretKey, webhookUrl, port })
  return {
    name: `Paystack, ${mode} keys`,
    url,
    add: `npx tollgate provider add paystack secret_key=${secretKey} url=${url} --mode ${mode}`,
    webhook: `curl -d '{"webhook_url":"ADDRESS"}' ${url}/control/settings`,
    ...(mode === 'test' && { settings: { PAYSTACK_SECRET_KEY: secretKey, PAYSTACK_URL: url } }),
    notes: [
      `Phones that are prompted: ${url}/`,
      `Refunds, disputes and webhook addresses: ${url}/dashboard`,
      ...(webhookUrl ? [`Until you enter another address, webhooks go to ${webhookUrl}`] : []),
      'Telecel asks for a voucher first: 123456. Cards are paid on a page of its own.',
    ],
    numbers:
      mode === 'test'
        ? Object.entries(standing).map(([ends, { words }]) => [`0${prefixOf(ends)}${ends}`, words] as const)
        : [],
    others: mode === 'test' ? 'any other waits for you' : 'numbers as with the test keys',
    controls: paystackControls,
    stop,
  }
}

// Live credentials differ from those of the sandbox, as with the real provider.
const liveMtn = {
  environment: 'mtnghana',
  subscriptionKey: '0a1b2c3d4e5f60718293a4b5c6d7e8f9',
  apiUser: '3f9d2c1b-8e47-4a6f-b215-90c7d4e8a1b3',
  apiKey: '5eed5eed5eed5eed5eed5eed5eed5eed',
} as const
const testMtn = { environment: 'sandbox', ...mtnCredentials } as const

// The sandbox's numbers are not valid phone numbers, so they are typed with a plus; Ghanaian ones as a customer types them.
export async function simulatedMtn(
  mode: Mode,
  { port, gateway }: SimulatedAccountOptions,
): Promise<SimulatedAccount> {
  const world = mode === 'live' ? liveMtn : testMtn
  const { environment, subscriptionKey, apiUser, apiKey } = world
  const refunds = disbursementCredentials
  const isLive = mode === 'live'
  const { url, stop } = await openMtn({ ...world, ...(isLive && { callbacksTo: gateway }) }, port)
  const rules = isLive ? ghanaNumbers : [...publishedNumbers, ...ghanaNumbers]
  return {
    name: isLive ? 'MTN MoMo, live environment mtnghana' : 'MTN MoMo, sandbox',
    url,
    add:
      `npx tollgate provider add mtn subscription_key=${subscriptionKey} api_user=${apiUser} api_key=${apiKey} ` +
      `environment=${environment} url=${url} disbursement_subscription_key=${refunds.subscriptionKey} ` +
      `disbursement_api_user=${refunds.apiUser} disbursement_api_key=${refunds.apiKey} --mode ${mode}`,
    ...(!isLive && {
      settings: {
        MTN_SUBSCRIPTION_KEY: subscriptionKey,
        MTN_API_USER: apiUser,
        MTN_API_KEY: apiKey,
        MTN_URL: url,
        MTN_DISBURSEMENT_SUBSCRIPTION_KEY: refunds.subscriptionKey,
        MTN_DISBURSEMENT_API_USER: refunds.apiUser,
        MTN_DISBURSEMENT_API_KEY: refunds.apiKey,
      },
    }),
    notes: isLive
      ? [
          'It takes cedis. Keys of requests that wait for you: the control open.',
          `For callbacks: callbacks=on and an https TOLLGATE_BASE_URL; they are delivered to ${gateway}.`,
        ]
      : ['It knows euros only, and gets the same figure in euros.'],
    numbers: rules.map(({ number = '', story }) => [typedAs(number), endingOf(story)] as const),
    others: isLive ? 'any other waits for approve or decline' : 'any other is paid at once',
    controls: mtnControls,
    stop,
  }
}

const typedAs = (number: string) => (number.startsWith('233') ? `0${number.slice(3)}` : `+${number}`)

// Describes the outcome of a rule.
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
