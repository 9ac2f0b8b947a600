import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { sql } from '../../../src/store/db.ts'
import { openCuttingProxy } from '../../support/gateway/cuttingProxy.ts'
import { type TestGateway, testGateway, type TestMerchant } from '../../support/gateway/gateway.ts'
import { checkStatus, post, signedRequest } from '../../support/merchant/merchant.ts'
import { openReceiver, type Receiver } from '../../support/merchant/receiver.ts'
import { serve } from './handler.ts'
import { developerEnv, type Env, runCommand } from './terminal.ts'

// trigger, clock and requests against a real gateway.

vi.setConfig({ testTimeout: 60_000 })

let gateway: TestGateway
let receiver: Receiver
beforeAll(async () => {
  receiver = await openReceiver()
  gateway = await testGateway({ TOLLGATE_EGRESS_LOOPBACK: 'on' })
})
afterAll(async () => {
  await gateway.stop()
  await receiver.close()
})

async function newDeveloper(...settings: string[]) {
  const merchant = await gateway.addMerchant(...settings)
  return { merchant, env: developerEnv(gateway.url, merchant.test) }
}

const statusOf = async ({ test: { merchant_key } }: TestMerchant, invoice_id: string) =>
  (await checkStatus(gateway.url, { merchant_key, invoice_id })).body

const triggered = async (env: Env, ...args: string[]) => {
  const { code, out, errors } = await runCommand(['trigger', ...args, '--json'], env)
  expect([code, errors]).toEqual([0, ''])
  return JSON.parse(out) as { invoice_id: string; tx_reference: string; outcome: string; status: string }
}

const soon = { timeout: 30_000, interval: 200 }

describe('trigger', () => {
  for (const [outcome, status, ...notified] of [
    ['paid', 'paid', 'paid'],
    ['failed', 'failed', 'failed'],
    ['declined', 'failed', 'failed'],
    ['no-money', 'failed', 'failed'],
    ['no-answer', 'awaiting_payment'],
    ['cancelled', 'cancelled', 'cancelled'],
    ['expired', 'failed', 'failed'],
    ['late', 'paid', 'failed', 'paid'],
    ['wrong-amount', 'awaiting_payment'],
    ['paid-twice', 'paid', 'paid'],
  ] as const)
    test.concurrent(`${outcome} ends as ${status}, and the endpoint gets: ${notified.join(', ') || 'nothing'}`, async () => {
      const { merchant, env } = await newDeveloper(`ipn_url=${receiver.url}/ipn`)
      const underscored = outcome.replace('-', '_')
      for (const spelling of new Set([outcome, underscored])) {
        const payment = await triggered(env, spelling)
        expect(payment.outcome).toBe(underscored)
        const received = () =>
          receiver.of(payment.tx_reference).map(({ body }) => JSON.parse(body).status as string)
        await vi.waitFor(
          async () =>
            expect([(await statusOf(merchant, payment.invoice_id)).status, ...received()]).toEqual([
              status,
              ...notified,
            ]),
          soon,
        )
      }
    })

  test('what happens, the payment and its page are shown', async () => {
    const { env } = await newDeveloper()
    const { code, out } = await runCommand(['trigger', 'no-answer', '--invoice-id', 'AMA 1'], env)
    expect(code).toBe(0)
    expect(out).toMatch(
      /^The customer does not answer\..*\nInvoice {3}AMA 1\nReference TG-\S+\nStatus {4}awaiting_payment\nPage {6}http\S+\/checkout\/\w+$/,
    )
  })

  test("takes the shop's own payment, and the details of a new one", async () => {
    const { merchant, env } = await newDeveloper()
    const request = signedRequest(merchant.test, { total: '42.00' })
    const { body: stored } = await post(gateway.url, request)
    const own = await triggered(env, 'paid', '--invoice-id', request.invoice_id)
    expect(own.tx_reference).toBe(stored.tx_reference)
    const details = ['--total', '10.5', '--currency', 'GHS', '--email', 'ama@mail.example']
    const { tx_reference } = await triggered(
      env,
      'paid',
      ...details,
      '--number',
      '0241234567',
      '--ipn-url',
      `${receiver.url}/own?a=1&b=2`,
    )
    await expect.poll(() => receiver.of(tx_reference).map(({ path }) => path)).toEqual(['/own?a=1&b=2'])
    expect(
      await gateway.db.one(
        sql`select total, email, number from payments where tx_reference = ${tx_reference}`,
      ),
    ).toEqual({ total: 1050n, email: 'ama@mail.example', number: '+233241234567' })
  })

  for (const [args, says] of [
    [['--total', '5.001'], 'GW-012 total: at most 2 decimals (got 5.001).'],
    [['--total', '0.03'], 'GW-012 total: the sandbox has outcomes of its own'],
    [['--currency', 'USD'], 'GW-012 currency: a trigger pays by mobile money, which takes GHS.'],
    [['--invoice-id', 'A&B'], 'GW-012 invoice_id: only letters, digits'],
    [['--invoice-id', 'used', '--total', '3'], 'choose another --invoice-id'],
  ] as const)
    test(`${args.join(' ')}: ${says}`, async () => {
      const { env } = await newDeveloper()
      await triggered(env, 'cancelled', '--invoice-id', 'used')
      const { code, out, errors } = await runCommand(['trigger', 'paid', ...args], env)
      expect([code, out, errors]).toEqual([1, '', expect.stringContaining(says)])
    })

  test('a gateway without the sandbox is named', async () => {
    const bare = await testGateway({ TOLLGATE_SANDBOX: 'off' })
    try {
      const env = developerEnv(bare.url, (await bare.addMerchant()).test)
      const { code, errors } = await runCommand(['trigger', 'paid'], env)
      expect([code, errors]).toEqual([1, expect.stringContaining('TOLLGATE_SANDBOX')])
    } finally {
      await bare.stop()
    }
  })
})

async function addMany() {
  const { merchant, env } = await newDeveloper()
  const { body } = await post(gateway.url, signedRequest(merchant.test, { invoice_id: 'A-0' }))
  const { merchant_id } = merchant
  await gateway.db.rows(sql`
    insert into payments select copy.* from payments p, generate_series(1, 2499) n,
      jsonb_populate_record(p, jsonb_build_object('invoice_id', 'A-' || n,
        'tx_reference', 'TG-' || p.merchant_id || '-' || n, 'tx_token', p.merchant_id || n)) as copy
    where p.tx_reference = ${body.tx_reference}`)
  const times = sql`select expires_at, count(*)::int from payments where merchant_id = ${merchant_id} group by 1 order by 1`
  return { env, times: () => gateway.db.rows<{ expires_at: Date; count: number }>(times) }
}

describe('clock', () => {
  test('24h expires a payment that waits, and says what has moved', async () => {
    const { merchant, env } = await newDeveloper()
    const { invoice_id } = await triggered(env, 'no-answer')
    const { code, out } = await runCommand(['clock', 'advance', '24h'], env)
    expect([code, out]).toEqual([
      0,
      'The clock of your test payments is 24h further.\n     1  payments\n     1  polls',
    ])
    await expect
      .poll(async () => (await statusOf(merchant, invoice_id)).status_reason, soon)
      .toBe('The customer did not approve in time.')
  })

  test('without payments it says that nothing was waiting', async () => {
    const { env } = await newDeveloper()
    const { out } = await runCommand(['clock', 'advance', '30d'], env)
    expect(out).toContain('Nothing was waiting for a time.')
    const { code, errors } = await runCommand(['clock', 'advance', '31d'], env)
    expect([code, errors]).toEqual([1, expect.stringContaining('GW-012 advance: at most 30d.')])
  })

  test('an attempt whose provider is being called is counted', async () => {
    const { env } = await newDeveloper()
    const { tx_reference } = await triggered(env, 'no-answer')
    await gateway.db.rows(sql`update attempts set next_poll_at = now() + interval '40 s', lease_until = now() + interval '40 s'
      where tx_reference = ${tx_reference}`)
    const { out } = await runCommand(['clock', 'advance', '24h'], env)
    expect(out).toContain('     1  payments\n     1  not moved, because their provider is being called')
  })

  test('2,500 payments are moved in three steps, each of them once', async () => {
    const { env, times } = await addMany()
    const [before] = await times()
    const { out } = await runCommand(['clock', 'advance', '60s', '--json'], env)
    expect(JSON.parse(out)).toEqual({
      advance: '60s',
      moved: { payments: 2500, polls: 0, notifications: 0, messages: 0 },
      in_flight: 0,
    })
    const after = new Date((before?.expires_at.getTime() ?? 0) - 60_000)
    expect(await times()).toEqual([{ expires_at: after, count: 2500 }])
  })

  test('a connection that breaks between two steps is continued without moving anything twice', async () => {
    const { env, times } = await addMany()
    let steps = 0
    const proxy = await serve(async (incoming, outgoing) => {
      if (++steps === 2) return outgoing.destroy() // it was not sent to the gateway
      const body = Buffer.concat((await incoming.toArray()) as Buffer[])
      const answer = await fetch(gateway.url + incoming.url, { method: 'POST', body, headers: json })
      return outgoing.end(await answer.text())
    })
    const { code, errors } = await runCommand(['clock', 'advance', '60s'], { ...env, TOLLGATE_URL: proxy })
    expect(code).toBe(1)
    expect(errors).toContain('The payments of this step may have moved or not.')
    const [, after = ''] = /clock advance 60s --after '(.+)'$/.exec(errors) ?? []
    const { out } = await runCommand(['clock', 'advance', '60s', '--after', after], env)
    expect(out).toContain('  1500  payments')
    expect(await times()).toHaveLength(1)
  })

  test('a lost answer is not repeated, and the user is told', async () => {
    const { env } = await newDeveloper()
    const proxy = await openCuttingProxy(gateway.url, ['after the request'])
    const { code, errors } = await runCommand(['clock', 'advance', '60s'], {
      ...env,
      TOLLGATE_URL: proxy.url,
    })
    expect([code, errors]).toEqual([
      1,
      expect.stringMatching(/could not be reached\. .*may have moved or not\.$/),
    ])
    expect(proxy.bodies).toHaveLength(1)
  })
})

const json = { 'content-type': 'application/json' }

const shown = async (env: Env, ...args: string[]) => (await runCommand(['requests', ...args], env)).out
const until = (env: Env, count: number) =>
  expect.poll(async () => (await shown(env)).match(/ req_/g)?.length ?? 0, soon).toBe(count)
const idsIn = (out: string) => [...out.matchAll(/req_\w+/g)].map(([id]) => id)

describe('requests', () => {
  test('each refusal is shown with its reason and its hint, the newest first', async () => {
    const { merchant, env } = await newDeveloper()
    expect(await shown(env)).toBe('No request was refused.')
    const request = signedRequest(merchant.test, { invoice_id: 'AMA-1', total: '25.00' })
    await post(gateway.url, request)
    await post(gateway.url, { ...request, secure_hash: '00'.repeat(32), invoice_id: 'AMA-2' })
    await post(gateway.url, signedRequest(merchant.test, { total: '5.001' }))
    await post(gateway.url, signedRequest(merchant.test, { invoice_id: 'AMA-1', total: '26.00' }))
    await checkStatus(gateway.url, { merchant_key: merchant.test.merchant_key, invoice_id: 'none' })
    await runCommand(['trigger', 'paid', '--total', '0.01'], env)
    await until(env, 5)
    const out = await shown(env)
    const time = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`
    const reasons = [
      [String.raw`400  GW-012  POST /v1/test/triggers`, 'total: the sandbox has outcomes of its own'],
      [String.raw`404  GW-005  GET  /v1/gateway/json_status_chk`, 'invoice_id: no payment'],
      [String.raw`409  GW-005  POST /v1/mobile_agents_v2`, 'invoice_id: is already used'],
      [
        String.raw`400  GW-012  POST /v1/mobile_agents_v2`,
        String.raw`total: at most 2 decimals \(got 5\.001\)`,
      ],
      [String.raw`401  GW-010  POST /v1/mobile_agents_v2`, 'secure_hash: does not match this request'],
    ] as const
    for (const [head, reason] of reasons)
      expect(out).toMatch(new RegExp(`^${time}  ${head}  req_\\w+\n    ${reason}`, 'm'))
    expect([...out.matchAll(/ (GW-\d+) {2}/g)].map(([, code]) => code)).toEqual(
      reasons.map(([head]) => /GW-\d+/.exec(head)?.[0]),
    )
    expect(out).toContain(
      `\n    hashed string: invoice_id=AMA-2&merchant_key=${merchant.test.merchant_key}&total=25.00`,
    )
    expect(out).toMatch(/\n {4}likely mistake: \S/)
  })

  test('pages follow each other without a gap, by the command that is shown', async () => {
    const { merchant, env } = await newDeveloper()
    for (let at = 0; at < 5; at++) await post(gateway.url, signedRequest(merchant.test, { total: '-1' }))
    await until(env, 5)
    const all = idsIn(await shown(env))
    const seen: string[] = []
    let args = ['requests', '--limit', '2']
    for (let page = 0; page < 3; page++) {
      const { out, errors } = await runCommand(args, env)
      seen.push(...idsIn(out))
      expect(errors).toMatch(page < 2 ? /^Older ones: requests --limit 2 --after req_\w+$/ : /^$/)
      args = errors.replace('Older ones: ', '').split(' ')
    }
    expect(seen).toEqual(all)
    const { out } = await runCommand(['requests', '--json', '--limit', '1'], env)
    expect(JSON.parse(out)).toMatchObject({ requests: [{ code: 'GW-012', field: 'total' }], next: all[0] })
  })

  for (const [args, says] of [
    [['--limit', '101'], 'GW-012 limit: must be from 1 to 100.'],
    [['--after', 'nonsense'], 'GW-012 after: must be the value of next'],
  ] as const)
    test(`${args.join(' ')}: ${says}`, async () => {
      const { env } = await newDeveloper()
      const { code, errors } = await runCommand(['requests', ...args], env)
      expect([code, errors]).toEqual([1, expect.stringContaining(says)])
    })

  test('a live key reads the requests of live mode', async () => {
    const { merchant } = await newDeveloper()
    const env = developerEnv(gateway.url, merchant.live)
    await post(gateway.url, signedRequest(merchant.live, { total: '-1' }))
    await until(env, 1)
  })
})

describe('what is wrong is said in one sentence', () => {
  const commands = [['trigger', 'paid'], ['clock', 'advance', '1h'], ['requests']]
  for (const command of commands)
    for (const [fault, changed, sentence] of [
      [
        'wrong key',
        { TOLLGATE_MERCHANT_KEY: 'tk_nobody' },
        /^GW-008: no merchant of this gateway has this key\. Check TOLLGATE_MERCHANT_KEY and TOLLGATE_URL\. \(request req_\w+\)$/,
      ],
      [
        'wrong secret',
        { TOLLGATE_MERCHANT_SECRET: 'wrong' },
        /^GW-010: the secret does not belong to this key\. Check TOLLGATE_MERCHANT_SECRET; each key has its own\. \(request req_\w+\)$/,
      ],
      [
        'gateway not reachable',
        { TOLLGATE_URL: 'http://127.0.0.1:2' },
        /^The gateway at http:\/\/127\.0\.0\.1:2 could not be reached\. Is it running, and is TOLLGATE_URL its address\?$/,
      ],
      ['not an address', { TOLLGATE_URL: '127.0.0.1:9' }, /^TOLLGATE_URL: must be an address such as /],
    ] as const)
      test(`${command.join(' ')}, ${fault}`, async () => {
        const { env } = await newDeveloper()
        const { code, out, errors } = await runCommand(command, { ...env, ...changed })
        expect([code, out, errors]).toEqual([1, '', expect.stringMatching(sentence)])
      })

  for (const command of commands.slice(0, 2))
    test(`${command.join(' ')}, live key`, async () => {
      const { merchant } = await newDeveloper()
      const { code, errors } = await runCommand(command, developerEnv(gateway.url, merchant.live))
      expect([code, errors]).toEqual([
        1,
        `GW-015: ${command[0]} works with a test key only, which begins with tk_. Yours does not. Nothing was sent.`,
      ])
    })

  // A gateway of an older release answers as this one does at an address that it does not have.
  for (const command of commands)
    test(`${command.join(' ')}, gateway too old`, async () => {
      const { env } = await newDeveloper()
      const url = await serve(async ({ method = 'GET' }, outgoing) => {
        const answer = await fetch(`${gateway.url}/v1/no/such/address`, { method })
        outgoing.writeHead(answer.status, json).end(await answer.text())
      })
      const { code, errors } = await runCommand(command, { ...env, TOLLGATE_URL: url })
      expect([code, errors]).toEqual([1, expect.stringContaining(`The gateway at ${url} has no `)])
      expect(errors).toContain('it is older than this command')
    })

  test('a wrong clock of this machine is named', async () => {
    const { env } = await newDeveloper()
    vi.useFakeTimers({ now: Date.now() - 400_000, toFake: ['Date'] })
    const late = await runCommand(['requests'], env).finally(() => vi.useRealTimers())
    expect(late.errors).toContain('Check the clock of this machine.')
  })
})
