import { setTimeout as sleep } from 'node:timers/promises'
import { type SimulatorRequest, openSimulator, type SimulatorReply, type Trouble } from '../simulator.ts'
import { type Rule, rulesOf } from '../rules.ts'
import {
  type Callback,
  type Charge,
  callBack,
  type Ending,
  endCharge,
  isEnded,
  newCharge,
  objectOf,
  type Sent,
  type Story,
  sendCallback,
} from './charges.ts'
import { type Credentials, authenticationOf, hasNoLength, lengthRequired } from './authentication.ts'
import { ghanaNumbers, publishedNumbers, succeeds } from './numbers.ts'
import { openDisbursements } from './refunds.ts'

export type MtnOptions = Partial<Credentials> & {
  environment?: string // default mtnghana; in the sandbox an unpublished number pays at once
  currency?: string // the accepted one
  callbackHost?: string // the registered one
  callbacksTo?: string // the origin behind the gateway's public https address
  tokenSeconds?: number
  disbursement?: Partial<Credentials> // of the product Disbursements
}

export const mtnCredentials: Credentials = {
  subscriptionKey: 'f0e1d2c3b4a59687f0e1d2c3b4a59687',
  apiUser: '7b3e8a52-6c1d-4f0e-9a37-2d4c5b6a7f80',
  apiKey: 'c0ffee00c0ffee00c0ffee00c0ffee00',
}

export const disbursementCredentials: Credentials = {
  subscriptionKey: 'a1b2c3d4e5f60718a1b2c3d4e5f60718',
  apiUser: '2f6d1c3b-8e4a-4b7c-8d9e-0f1a2b3c4d5e',
  apiKey: 'decafe00decafe00decafe00decafe00',
}

export type MtnSimulator = Awaited<ReturnType<typeof openMtn>>

const requests = '/collection/v1_0/requesttopay'
const holders = '/collection/v1_0/accountholder/msisdn/'

// MTN MoMo Collections. An order without a rule waits for `approve` or `decline`; in the sandbox it is paid at once.
export function openMtn(world: MtnOptions = {}, port?: number) {
  const { environment = 'mtnghana', callbackHost } = world
  const isSandbox = environment === 'sandbox'
  const { currency = isSandbox ? 'EUR' : 'GHS' } = world
  let { callbacksTo } = world
  let notFoundStatus = 404
  const terms = { tokenSeconds: world.tokenSeconds ?? 3600, wrongKeyStatus: 401 }
  const authentication = authenticationOf({ ...mtnCredentials, ...world }, terms)
  const rules = rulesOf<Story>(isSandbox ? [...publishedNumbers, ...ghanaNumbers] : ghanaNumbers)
  const used = new Set<string>() // references, whatever their outcome
  const charges = new Map<string, Charge>()
  const holding = new Map<string, unknown>() // by number: the reply to an account holder check

  const refundDoor = authenticationOf({ ...disbursementCredentials, ...world.disbursement }, terms)
  const disbursements = openDisbursements({
    chargeOf: key => find(key),
    currency,
    isSandbox,
    callbacksTo: () => callbacksTo,
    notFound: () => code(notFoundStatus, 'RESOURCE_NOT_FOUND'),
  })

  function answer(asked: SimulatorRequest): Promise<SimulatorReply | Trouble> | SimulatorReply | Trouble {
    if (hasNoLength(asked)) return lengthRequired
    const isRefund = asked.path.startsWith('/disbursement/')
    const door = isRefund ? refundDoor : authentication
    if (/^\/(collection|disbursement)\/token\/$/.test(asked.path)) return door.token(asked)
    const refused = door.refusal(asked)
    if (refused) return refused
    if (asked.headers['x-target-environment'] !== environment)
      return code(500, 'NOT_ALLOWED_TARGET_ENVIRONMENT')
    if (isRefund) return disbursements.answer(asked)
    if (asked.method === 'POST' && asked.path === requests) return submit(asked)
    if (asked.method === 'GET' && asked.path.startsWith(`${requests}/`)) return statusReply(asked.path)
    if (asked.path.startsWith(holders)) return holderReply(asked.path)
    if (asked.path === '/collection/v1_0/account/balance')
      return { status: 200, body: { availableBalance: '1000', currency } }
    return { status: 404, body: { statusCode: 404, message: 'Resource not found' } }
  }

  async function submit({ headers, text }: SimulatorRequest): Promise<SimulatorReply | Trouble> {
    const key = String(headers['x-reference-id']).toLowerCase()
    if (!uuid4.test(key)) return { status: 400 }
    if (used.has(key)) return code(409, 'RESOURCE_ALREADY_EXIST')
    const sent = readSent(text)
    const callback_url = headers['x-callback-url'] as string | undefined
    if (!sent || !isWellFormed(sent) || callback_url === '') return { status: 400 }
    if (!isSandbox && callback_url?.startsWith('http:')) return { status: 400 } // https only; the real code is not documented
    used.add(key)
    if (callback_url && callbackHost && new URL(callback_url).hostname !== callbackHost)
      return code(500, 'INVALID_CALLBACK_URL_HOST')
    if (sent.currency !== currency) return code(500, 'INVALID_CURRENCY')
    const { amount, payer } = sent
    const story = rules.storyOf({ number: payer.partyId, amount, key }) ?? (isSandbox ? succeeds : {})
    if (story.isUsedUp === false) used.delete(key)
    return take(newCharge(key, sent, callback_url, callbacksTo, story))
  }

  async function take(charge: Charge): Promise<SimulatorReply | Trouble> {
    const { submit: said = { status: 202 }, isTaken = true, delayMs = 0, ends, afterReads = 0 } = charge.story
    if (isTaken) {
      charges.set(charge.key, charge)
      await callBack(charge, 'submit')
      if (ends && afterReads === 0) void endCharge(charge, ends)
    }
    await sleep(delayMs)
    return said
  }

  async function statusReply(path: string): Promise<SimulatorReply> {
    const charge = find(decodeURIComponent(path.slice(requests.length + 1)))
    if (!charge) return code(notFoundStatus, 'RESOURCE_NOT_FOUND')
    const { hiddenReads = 0, ends, afterReads = 0 } = charge.story
    if (charge.reads++ < hiddenReads) return code(notFoundStatus, 'RESOURCE_NOT_FOUND')
    if (ends && charge.reads - hiddenReads > afterReads) await endCharge(charge, ends)
    return { status: 200, body: objectOf(charge) }
  }

  function holderReply(path: string): SimulatorReply {
    const number = path.slice(holders.length).replace('/active', '')
    const result = holding.get(number) ?? true
    return result === 'broken' ? code(500, 'INTERNAL_PROCESSING_ERROR') : { status: 200, body: { result } }
  }

  const find = (key: string) => charges.get(key.toLowerCase())
  const end = async (key: string, ending: Ending) => {
    const charge = find(key)
    return charge ? endCharge(charge, ending) : false
  }

  return openSimulator(
    {
      answer,
      controls: {
        rule: (rule: Rule<Story>) => rules.add(rule),
        clearRules: () => rules.clear(),
        approve: (key: string) => end(key, { status: 'SUCCESSFUL' }),
        decline: (key: string) => end(key, { status: 'FAILED', reason: 'APPROVAL_REJECTED' }),
        end: ({ key, ...ending }: Ending & { key: string }) => end(key, ending),
        // Sends a callback: late, repeated, forged, or of another order.
        callBack({ key, ...callback }: Omit<Callback, 'at'> & { key: string }) {
          const charge = find(key)
          return charge ? sendCallback(charge, callback) : []
        },
        holder: ({ number, result }: { number: string; result: unknown }) => void holding.set(number, result),
        ...disbursements.controls,
        expireTokens: () => (authentication.expire(), refundDoor.expire()),
        tokensLive: (seconds: number) => void (terms.tokenSeconds = seconds),
        wrongKeyAs: (status: 401 | 500) => void (terms.wrongKeyStatus = status),
        notFoundAs: (status: 400 | 404) => void (notFoundStatus = status),
        deliverTo: (origin: string) => void (callbacksTo = origin),
        charges: (key: string) => (find(key) ? 1 : 0),
        // All charges, as an account statement would list them.
        book: () =>
          [...charges.values()].map(charge => ({ ...charge, isPaid: charge.status === 'SUCCESSFUL' })),
        open: () => [...charges.values()].filter(charge => !isEnded(charge)).map(({ key }) => key),
      },
    },
    port,
  )
}

const uuid4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const code = (status: number, word: string): SimulatorReply => ({ status, body: { code: word, message: '' } })

function readSent(text: string): Sent | undefined {
  try {
    return (JSON.parse(text) as Sent | null) ?? undefined
  } catch {
    return undefined
  }
}

const isNote = (note: unknown) => typeof note === 'string' && /^[\w .,-]{0,160}$/.test(note)

function isWellFormed({ amount, externalId, payer, payerMessage, payeeNote }: Sent): boolean {
  const isPayer = payer?.partyIdType === 'MSISDN' && /^\d{8,15}$/.test(payer.partyId)
  const isAmount = typeof amount === 'string' && /^\d+(\.\d+)?$/.test(amount)
  return isAmount && typeof externalId === 'string' && isPayer && isNote(payerMessage) && isNote(payeeNote)
}
