import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { playMtn } from '../../providers/mtn/play.ts'
import { simulatedMtn as playForPeople } from '../accounts.ts'
import { mtnCredentials, openMtn } from './mtn.ts'

// The simulator behaves as the real MTN was observed to behave.
const basic = `Basic ${Buffer.from(`${mtnCredentials.apiUser}:${mtnCredentials.apiKey}`).toString('base64')}`
const headers = { authorization: basic, 'ocp-apim-subscription-key': mtnCredentials.subscriptionKey }

async function askToken(more: Record<string, string>, body: string, isChunked = false) {
  const played = await openMtn()
  onTestFinished(() => played.stop())
  const outgoing = request(`${played.url}/collection/token/`, {
    method: 'POST',
    headers: { ...headers, ...more },
    agent: false,
  })
  if (isChunked) outgoing.write(body)
  outgoing.end(isChunked ? undefined : body)
  const [answer] = await once(outgoing, 'response')
  let text = ''
  for await (const chunk of answer) text += chunk
  return `${answer.statusCode} ${text}`
}

test('a token: without a body or with a grant in JSON, never by chunks or as a form', async () => {
  expect(await askToken({ 'content-length': '0' }, '')).toMatch(/^200 {"access_token"/)
  const grant = '{"grant_type":"client_credentials"}'
  expect(await askToken({ 'content-type': 'application/json' }, grant)).toMatch(/^200 {"access_token"/)
  expect(await askToken({ 'content-type': 'application/json' }, grant, true)).toMatch(/^411 </)
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  expect(await askToken(form, 'grant_type=client_credentials')).toMatch(/^200 <html>Request Rejected/)
})

async function openListener() {
  const heard: { method?: string; body: any }[] = []
  const server = createServer((incoming, outgoing) => {
    let text = ''
    incoming.on('data', chunk => (text += chunk))
    incoming.on('end', () => {
      heard.push({ method: incoming.method, body: JSON.parse(text) })
      outgoing.end()
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  return {
    heard,
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  }
}

test('callbacks: before the answer, at the end, twice, forged, by PUT, and never', async () => {
  const { heard, origin } = await openListener()
  const { played, account, order } = await playMtn({ callbacksTo: origin }, { callbacks: 'on' })
  const send = async (story: object) => {
    const sent = order()
    played.rule({ key: sent.idempotency_key, story })
    await account.start(sent)
    return sent
  }
  const early = await send({ callbacks: [{ at: 'submit' }, { at: 'end', times: 2, method: 'PUT' }] })
  expect(heard.map(({ body }) => body.status)).toEqual(['PENDING'])
  expect(heard[0]?.body).toMatchObject({ externalId: early.attempt_id })
  expect(heard[0]?.body).not.toHaveProperty('financialTransactionId')
  await played.approve(early.idempotency_key)
  expect(heard.slice(1).map(({ method, body }) => `${method} ${body.status}`)).toEqual([
    'PUT SUCCESSFUL',
    'PUT SUCCESSFUL',
  ])
  const silent = await send({ callbacks: [] })
  await played.approve(silent.idempotency_key)
  expect(heard).toHaveLength(3)
  await played.callBack({
    key: silent.idempotency_key,
    body: { status: 'FAILED', externalId: early.attempt_id },
  })
  expect(heard[3]?.body).toMatchObject({ status: 'FAILED', externalId: early.attempt_id })
})

test('controls are requests, too', async () => {
  const { played, account, order } = await playMtn()
  const sent = order()
  await account.start(sent)
  const control = async (name: string, body: unknown) =>
    (await fetch(`${played.url}/control/${name}`, { method: 'POST', body: JSON.stringify(body) })).json()
  expect(await control('charges', sent.idempotency_key)).toEqual({ said: 1 })
  expect(await control('approve', sent.idempotency_key)).toEqual({ said: true })
  expect(await control('decline', sent.idempotency_key)).toEqual({ said: false }) // the first ending is final
  await control('weather', { trouble: 'busy', times: 1 })
  expect(await account.check(sent)).toEqual({ state: 'unknown', words: 'HTTP 429', restMs: 7000 })
  expect(await account.check(sent)).toMatchObject({ state: 'paid' })
})

const tokenOf = async (played: { url: string }, more: Record<string, string> = {}) => {
  const answer = await fetch(`${played.url}/collection/token/`, {
    method: 'POST',
    headers: { ...headers, ...more },
  })
  return { status: answer.status, token: ((await answer.json()) as { access_token?: string }).access_token }
}

test('a wrong API key is answered 401, or 500', async () => {
  const played = await openMtn()
  onTestFinished(() => played.stop())
  const wrong = { authorization: 'Basic d3Jvbmc6d3Jvbmc=' }
  expect(await tokenOf(played, wrong)).toMatchObject({ status: 401 })
  played.wrongKeyAs(500)
  expect(await tokenOf(played, wrong)).toMatchObject({ status: 500 })
  expect(await tokenOf(played)).toMatchObject({ status: 200 })
})

async function submit(played: { url: string }, environment: string, more: object, callback?: string) {
  const { token } = await tokenOf(played)
  const body = {
    amount: '25.00',
    currency: environment === 'sandbox' ? 'EUR' : 'GHS',
    externalId: 'a1',
    payer: { partyIdType: 'MSISDN', partyId: '233241234567' },
    payerMessage: 'Shop',
    payeeNote: 'A-1',
    ...more,
  }
  const answer = await fetch(`${played.url}/collection/v1_0/requesttopay`, {
    method: 'POST',
    headers: {
      ...headers,
      authorization: `Bearer ${token}`,
      'x-target-environment': environment,
      'x-reference-id': '7b3e8a52-6c1d-4f0e-9a37-2d4c5b6a7f80',
      ...(callback && { 'x-callback-url': callback }),
    },
    body: JSON.stringify(body),
  })
  return answer.status
}

test('a live market takes its own currency, and callbacks to https alone', async () => {
  const played = await openMtn({ environment: 'mtnghana' })
  onTestFinished(() => played.stop())
  expect(await submit(played, 'mtnghana', {}, 'http://pay.example.test/')).toBe(400)
  expect(await submit(played, 'mtnghana', {}, 'https://pay.example.test/')).toBe(202)
  const other = await openMtn({ environment: 'mtnghana' })
  onTestFinished(() => other.stop())
  expect(await submit(other, 'mtnghana', { currency: 'EUR' })).toBe(500)
})

for (const [isUsedUp, second] of [
  [true, 409],
  [false, 400],
] as const)
  test(`a refused reference that is ${isUsedUp ? '' : 'not '}used up is answered ${second} the next time`, async () => {
    const played = await openMtn()
    onTestFinished(() => played.stop())
    played.rule({ story: { submit: { status: 400 }, isTaken: false, isUsedUp } })
    expect(await submit(played, 'mtnghana', {})).toBe(400)
    expect(await submit(played, 'mtnghana', {})).toBe(second)
  })

for (const mode of ['test', 'live'] as const)
  test(`for people, in ${mode} mode: the account to add and what to type`, async () => {
    const gateway = 'http://localhost:8080'
    const { add, numbers, stop } = await playForPeople(mode, { port: 0, gateway })
    await stop()
    expect(add).toContain(mode === 'live' ? 'environment=mtnghana' : 'environment=sandbox')
    const typed = new Map(numbers)
    expect(typed.has('+46733123451')).toBe(mode === 'test')
    expect(typed.get('0244000002')).toContain('LOW_BALANCE_OR_PAYEE_LIMIT_REACHED_OR_NOT_ALLOWED')
    expect(typed.get('0244000006')).toBe('HTTP 500, PAYER_NOT_FOUND (the reference is used up)')
    expect(typed.get('0244000014')).toBe('HTTP 200, a page in HTML (the reference is not used up)')
  })
