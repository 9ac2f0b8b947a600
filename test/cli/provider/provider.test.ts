import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { checkTools } from '../../../src/cli/provider/accountSetup.ts'
import { readChanges } from '../../../src/cli/provider/secretInput.ts'
import { readConfig } from '../../../src/config.ts'
import { webhookIdOf } from '../../../src/runtime/providers/accounts.ts'
import { openDb, sql } from '../../../src/store/db.ts'
import { type TestGateway, testGateway, type TestMerchant } from '../../support/gateway/gateway.ts'
import { post, send, signedRequest } from '../../support/merchant/merchant.ts'
import { type Env, newMasterKey, temporaryFolder, tollgate, tollgateJson } from '../tollgate.ts'

vi.setConfig({ testTimeout: 120_000 }) // it starts whole gateways

const secret = 'k3y-of-the-sandbox-that-nobody-sees'
const folder = temporaryFolder()
const keyFile = join(folder, 'key.txt')
writeFileSync(keyFile, `${secret}\n`)
const paystackFile = join(folder, 'paystack.txt')
writeFileSync(paystackFile, 'sk_test_stored')

// Two gateways without payment methods, and commands beside them.
let nodes: TestGateway[] = []
let env: Env
let output = ''
beforeAll(async () => {
  const key = newMasterKey()
  const settings = { TOLLGATE_MASTER_KEY: key, TOLLGATE_SANDBOX: 'off' }
  const first = await testGateway(settings)
  const beside = { url: first.databaseUrl, drop: async () => {} }
  nodes = [first, await testGateway(settings, {}, beside)]
  env = { ...settings, DATABASE_URL: first.databaseUrl, TOLLGATE_BASE_URL: 'https://pay.example' }
})
afterAll(async () => {
  for (const node of nodes.toReversed()) await node.stop()
})

async function run(...args: string[]) {
  const ran = await tollgate(env, 'provider', ...args)
  output += ran.stdout + ran.stderr
  return ran
}
async function runJson(...args: string[]) {
  const ran = await tollgateJson(env, 'provider', ...args)
  output += JSON.stringify(ran)
  return ran
}
const onNode = (node: TestGateway | undefined) => node as TestGateway

async function addMerchant(...settings: string[]): Promise<TestMerchant> {
  const { data } = await tollgateJson(env, 'merchant', 'add', '--name', 'Ama Shop')
  if (settings.length > 0)
    expect((await tollgate(env, 'merchant', 'set', data.merchant_id, ...settings)).code).toBe(0)
  return data
}

// The text of a checkout page, on each node.
async function pages(own: { merchant_key: string; secret_key: string; ipn_secret: string }) {
  const { checkout_url } = (await post(onNode(nodes[0]).url, signedRequest(own))).body
  const path = new URL(String(checkout_url)).pathname
  return Promise.all(nodes.map(async node => (await send(`${node.url}${path}`)).text))
}

let account = ''

test('an empty list has a sentence', async () => {
  const { code, stdout } = await run('list')
  expect([code, stdout]).toEqual([0, 'There are no accounts: tollgate provider add PROVIDER adds one.\n'])
})

test('all missing and unknown settings are named together, and nothing is stored', async () => {
  const { code, error } = await runJson('add', 'sandbox', 'kye=@x', '--mode', 'test')
  expect([code, error.code]).toEqual([1, 'not_found']) // there is no such file
  const wrong = await runJson('add', 'sandbox', 'kye=1', '--mode', 'test')
  expect(wrong.error).toMatchObject({
    code: 'refused',
    faults: [
      'kye: no such setting; there are url, key, egress_address, egress_proxy',
      expect.stringMatching(/^url: is missing\. /),
      expect.stringMatching(/^key: is missing\. /),
    ],
  })
  for (const [args, message] of [
    [['add', 'acme', '--mode', 'test'], /^There is no provider acme; there are .*sandbox/],
    [['add', 'sandbox', 'key', '--mode', 'test'], /key: write it as NAME=VALUE/],
    [['add', 'sandbox', '--mode', 'test', '--merchant', 'nobody'], /^No merchant has the id nobody/],
    [['set', 'sandbox-000000', 'key=1'], /^No account is called sandbox-000000/],
    [['set', 'sandbox', 'key=1'], /settings of sandbox are in the environment/],
    [['set', 'sandbox-000000'], /^Say what to change/],
    [['test', 'sandbox-000000'], /^No account is called/],
    [['disable', 'sandbox-000000'], /^No account is called/],
    [['list', '--merchant', 'nobody'], /^No merchant has the id nobody/],
  ] as const) {
    const refused = await runJson(...args)
    expect([refused.code, refused.error.message]).toEqual([1, expect.stringMatching(message)])
  }
  expect((await run('add', 'sandbox')).code).toBe(2) // without a mode
  expect((await runJson('list')).data).toEqual({ accounts: [] })
})

test('settings of a test account are refused for a live one', async () => {
  const { error } = await runJson(
    'add',
    'sandbox',
    'url=http://127.0.0.1:1',
    `key=@${keyFile}`,
    '--mode',
    'live',
  )
  expect(error.faults).toEqual([
    'It is declared as a live account, but these are settings of a test account.',
  ])
})

test('every running node offers an added account, and the list has its label', async () => {
  const shop = await addMerchant()
  for (const page of await pages(shop.test)) expect(page).not.toContain('MTN MoMo')
  const added = await runJson(
    'add',
    'sandbox',
    'url=http://127.0.0.1:1',
    `key=@${keyFile}`,
    '--mode',
    'test',
    '--label',
    'Our own',
  )
  account = added.data.account
  expect(added).toMatchObject({
    code: 0,
    data: {
      account: expect.stringMatching(/^sandbox-[0-9a-z]{6}$/),
      mode: 'test',
      merchant_id: null,
      label: 'Our own',
      webhook: null, // the sandbox callbacks at attempts
      check: { outcome: 'no_check', words: expect.any(String) },
      shown_secrets: [],
    },
  })
  for (const at of [0, 1]) await expect.poll(async () => (await pages(shop.test))[at]).toContain('MTN MoMo')
  for (const page of await pages(shop.live)) expect(page).not.toContain('MTN MoMo')
  const { stdout } = await run('list')
  for (const words of [account, 'Our own', 'sandbox, test', 'every merchant', 'mtn_mobile_money'])
    expect(stdout).toContain(words)
  expect(stdout).not.toContain('/callbacks/account/')
})

test('no node offers a disabled account; an enabled one is offered again', async () => {
  const shop = await addMerchant()
  expect((await run('disable', account)).stdout).toBe(
    `${account} takes no new payments within a second; its open attempts are polled until they end.\n`,
  )
  for (const at of [0, 1])
    await expect.poll(async () => (await pages(shop.test))[at]).not.toContain('MTN MoMo')
  expect((await run('list')).stdout).toMatch(/disabled +since \d{4}-/)
  expect((await run('enable', account)).stdout).toBe(`${account} takes new payments again within a second.\n`)
  for (const at of [0, 1]) await expect.poll(async () => (await pages(shop.test))[at]).toContain('MTN MoMo')
})

test('a merchant’s account serves only that merchant, and disabling it names the fallback', async () => {
  const shop = await addMerchant()
  const args = ['add', 'sandbox', 'url=http://127.0.0.1:1', `key=@${keyFile}`, '--mode', 'test']
  const { data } = await runJson(...args, '--merchant', shop.merchant_id)
  expect(data.merchant_id).toBe(shop.merchant_id)
  const listed = (await runJson('list', '--merchant', shop.merchant_id)).data.accounts
  expect(listed.map((one: { account: string }) => one.account)).toEqual([data.account])
  expect((await run('disable', data.account)).stdout).toContain(
    "then go to the operator's accounts that serve the same payment method",
  )
})

test('a secret on the command line is accepted with a warning', async () => {
  const { code, stdout } = await run('set', account, `key=${secret}`)
  expect(code).toBe(0)
  expect(stdout).toMatch(/^sandbox-\w{6} is changed; every node uses it within a second\./)
  expect(stdout).toContain('key was on the command line')
  expect((await runJson('set', account, '--label', 'Theirs')).data).toEqual({ account, label: 'Theirs' })
  const { error } = await runJson('set', account, 'key=', 'colour=red')
  expect(error.faults).toEqual([
    expect.stringMatching(/^colour: no such setting/),
    expect.stringMatching(/^key: is missing/),
  ])
})

test('test prints the result in a sentence', async () => {
  const { code, stdout } = await run('test', account)
  expect([code, stdout]).toEqual([0, `${account}: This provider has no check that charges nobody.\n`])
})

test('an account that cannot be opened is shown by list and doctor with the reason, and logged once by each node', async () => {
  const db = openDb(onNode(nodes[0]).databaseUrl, 1)
  await db.rows(sql`
    update provider_accounts set settings = '{"url": "http://evil.example"}',
      version = (select max(version) + 1 from provider_accounts) where account = ${account}`)
  await db.end()
  const faulty = await run('list')
  expect(faulty.stdout).toMatch(/fault +Its secrets do not open/)
  const { code, data } = await tollgateJson(env, 'doctor')
  expect(code).toBe(1)
  expect(data.checks).toContainEqual(
    expect.objectContaining({
      check: 'accounts',
      state: 'failed',
      fact: expect.stringMatching(`${account} cannot be opened: Its secrets do not open`),
    }),
  )
  expect((await run('test', account)).stderr).toMatch(/cannot be opened: Its secrets do not open/)
  for (const node of nodes) {
    const reported = () => node.logs.filter(line => line.includes('an account cannot be opened'))
    await expect.poll(() => reported().length).toBe(1)
    expect(reported()[0]).toContain(account)
  }
})

test('doctor names merchants without a live method, and unknown names in settings', async () => {
  const { merchant_id } = await addMerchant('payment_methods=mtn_momo', 'providers=mtn-zzzzzz')
  const { data } = await tollgateJson({ ...env, TOLLGATE_PROVIDERS: 'sandbx' }, 'doctor')
  const one = (name: string) => data.checks.find(({ check }: { check: string }) => check === name)
  expect(one('live methods').fact).toMatch(/^there is no live account/)
  expect(one('providers').fact).toBe(
    `unknown accounts or payment methods: TOLLGATE_PROVIDERS has sandbx, providers of ${merchant_id} has mtn-zzzzzz, payment_methods of ${merchant_id} has mtn_momo`,
  )
})

test('the webhook address is shown if the provider signs its webhooks', async () => {
  const added = await runJson('add', 'paystack', `secret_key=@${paystackFile}`, '--mode', 'test', '--no-test')
  const webhook = `https://pay.example/callbacks/account/${webhookIdOf(added.data.account)}`
  expect(added.data).toMatchObject({ webhook })
  expect((await run('list')).stdout).toContain(webhook)
  await run('disable', added.data.account)
})

test('no secret is in the output or the log', () => {
  const logged = nodes.flatMap(node => node.logs).join('\n')
  for (const text of [output, logged]) {
    expect(text.length).toBeGreaterThan(1000)
    expect(text).not.toContain(secret)
  }
})

test('a check of settings uses no cached token', async () => {
  const { databaseUrl } = onNode(nodes[0])
  const db = openDb(databaseUrl, 1)
  const { tokenOf } = checkTools({ config: readConfig(env), db, clock: () => new Date() })
  let made = 0
  const make = async () => Promise.resolve({ token: `token ${++made}`, lifetimeMs: 3_600_000 })
  const { signal } = new AbortController()
  expect(await tokenOf(account, {})(make, signal)).toBe('token 1')
  expect(await tokenOf(account, {})(make, signal)).toBe('token 2')
  await db.end()
})

const piped = (text: string) => Readable.from([text])

test('secrets are read from standard input: a single one whole, several one per line', async () => {
  expect(await readChanges(['url=u', 'key=-'], piped('a\nb\n'))).toEqual([
    ['url', 'u'],
    ['key', 'a\nb'],
  ])
  expect(await readChanges(['user=-', 'key=-'], piped('me\r\ntop\n'))).toEqual([
    ['user', 'me'],
    ['key', 'top'],
  ])
  expect(await readChanges(['key=-'], piped(''))).toEqual([['key', '']])
  expect(await readChanges(['key=a=b'])).toEqual([['key', 'a=b']])
  await expect(readChanges(['key=-'], piped('x'.repeat(70_000)))).rejects.toThrow(/more than 64 kB/)
  await expect(readChanges([`key=@${folder}`])).rejects.toThrow('is not a file')
})
