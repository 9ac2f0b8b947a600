import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, test } from 'vitest'
import { installationSecrets } from '../../src/actions/installation/secrets.ts'
import { makeSupportLink } from '../../src/actions/installation/supportLinks.ts'
import { setMerchant } from '../../src/actions/merchants/setMerchant.ts'
import { type Credentials, onboard } from '../../src/actions/merchants/onboard.ts'
import { readConfig } from '../../src/config.ts'
import { operatorKeys } from '../../src/core/operator/operatorKeys.ts'
import { startEmbedded } from '../../src/postgres/embedded.ts'
import { type OpenDatabase, openDatabase } from '../../src/start/database.ts'
import { migrate } from '../../src/store/migrate/migrate.ts'
import { addStoredAccount, changingAccounts } from '../../src/store/providers/accounts.ts'
import { sealSettings } from '../../src/store/providers/sealedSettings.ts'
import { query } from '../support/database/database.ts'
import { spawnGateway } from '../support/gateway/gateway.ts'
import { checkStatus, post, send, sign, signedRequest } from '../support/merchant/merchant.ts'

// Words that occur nowhere by chance.
const person = { name: 'Kwabena Zebrafish', number: '0249876123', email: 'quokka@wombat.example' }
const wallet = '0559876321'
const stored = { ...person, number: '+233249876123' }

const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-secrets-'))
const tokens: string[] = []
const hashes: string[] = []
const keys: Credentials[] = []
const passwords: string[] = []
const operatorSecrets: string[] = []
let links: string[] = []
const accountSecrets = [
  'sk_live_4b1f0c2d9e8a7b6c5d4e3f2a1b0c9d8e',
  'http://wolf:aardvark-1987@proxy.example:3128',
]
let logs = ''
let dump = ''

// The real program sees every kind of request, stops, and leaves its log lines and its files.
beforeAll(async () => {
  const records = await openDatabase(readConfig({ TOLLGATE_DATA_DIR: dataDir }), 'command')
  await migrate(records.db)
  for (const shop of ['Ama Shop', 'Kofi Shop']) {
    const added = await onboard(records.db, records.masterKeys, shop, ['test', 'live'], new Date())
    assert.ok(added.test && added.live)
    keys.push(added.test, added.live)
    const basic = ['ipn_style=basic', 'ipn_url=https://shop.example/ipn']
    const chosen = await setMerchant(records.db, added.merchant_id, basic, records.masterKeys)
    assert.ok(chosen?.ipn_passwords)
    passwords.push(...Object.values(chosen.ipn_passwords))
  }
  await addAccounts(records)
  await addLinks(records)
  await records.close()

  const gateway = await spawnGateway({
    TOLLGATE_DATA_DIR: dataDir,
    LOG_LEVEL: 'trace',
    TOLLGATE_SUPPORT_TOKEN: '',
  })
  await operatorTraffic(gateway.url)
  for (const one of keys) await traffic(gateway.url, one)
  await cutConnections()
  for (const one of keys) await traffic(gateway.url, one)
  dump = await dumpDatabase()
  await gateway.kill('SIGTERM')
  logs = gateway.output() + readFileSync(join(dataDir, 'postgres.log'), 'utf8')
})
afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

// One that opens, and one that does not, which the gateway tells.
async function addAccounts({ db, masterKeys }: OpenDatabase) {
  const [key = '', egress_proxy = ''] = accountSecrets
  for (const provider of ['sandbox', 'nobodys']) {
    const settings = { url: 'http://127.0.0.1:1' }
    const bound = {
      account: `${provider}-4f7k2q`,
      provider,
      mode: 'test' as const,
      merchant_id: null,
      settings,
    }
    const sealed = sealSettings(masterKeys, bound, { key, egress_proxy })
    const row = { ...bound, ...sealed, label: null, created_at: new Date() }
    await changingAccounts(db, tx => addStoredAccount(tx, row))
  }
}

// One that is used, and one that is not.
async function addLinks({ db, masterKeys }: OpenDatabase) {
  const { supportToken, formKey } = await installationSecrets(db, masterKeys, new Date())
  const made = [1, 2].map(() => makeSupportLink(db, operatorKeys(supportToken, undefined), '', new Date()))
  links = (await Promise.all(made)).map(({ link }) => link)
  const words = links.map(link => link.slice(link.indexOf('=') + 1))
  operatorSecrets.push(supportToken, formKey.toString('hex'), ...words)
}

async function operatorTraffic(url: string) {
  const [supportToken = ''] = operatorSecrets
  const entered = await send(url + links[0])
  assert.equal(entered.http, 303)
  const cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? ''
  operatorSecrets.push(cookie.slice(cookie.indexOf('.') + 1))
  const wrong = { authorization: `Bearer ${supportToken}`, cookie: `${cookie}x` }
  for (const path of ['/support', '/inbox', '/metrics']) {
    for (const headers of [{ cookie }, wrong]) assert.equal((await send(url + path, { headers })).http, 200)
    await send(`${url}${path}?link=${operatorSecrets.at(-2)}&token=${supportToken}`)
  }
}

// Good, bad and odd, with everything that must stay hidden in every place where it could stand.
async function traffic(url: string, own: Credentials) {
  const { merchant_key, secret_key, ipn_secret } = own
  const full = signedRequest(own, { ...person, description: 'Two hats', extra_colour: 'red' })
  const answer = await post(url, full)
  const { tx_token } = answer.body
  tokens.push(tx_token)
  hashes.push(String(full.secure_hash))
  assert.equal(answer.http, 200)

  const { invoice_id } = full
  const secure_hash = sign(secret_key, `invoice_id=${invoice_id}&merchant_key=${merchant_key}`)
  hashes.push(secure_hash)
  const hidden = { ...person, secret_key, ipn_secret, tx_token, secure_hash, pymt_instrument: wallet }
  const asQuery = asForm(hidden)
  const direct = {
    pymt_instrument: wallet,
    extra_wallet_issuer_hint: 'mtn',
    generate_checkout_url: undefined,
  }
  const html = { headers: { accept: 'text/html' } }
  await Promise.all([
    post(url, full), // the safe retry
    post(url, { ...full, name: 'Kofi Numbat' }), // 409
    post(url, { ...full, ...hidden, secure_hash: sign(ipn_secret, 'wrong') }),
    post(url, { ...full, merchant_key: secret_key }), // the fields mixed up
    post(url, { ...full, number: `${person.number}x` }),
    post(url, { ...full, secret_key, email: `${person.email}@` }),
    post(url, signedRequest(own, { ...direct, email: person.email })),
    post(url, asForm(full), 'application/x-www-form-urlencoded'),
    post(url, `{"secret_key":"${secret_key}","name":"${person.name}"`), // broken off
    post(url, `${JSON.stringify(hidden)} ${secret_key}`, 'text/plain'),
    post(url, 'x'.repeat(70_000) + secret_key),
    send(`${url}/gateway?${asForm(full)}`, html),
    send(`${url}/gateway/checkout?${asQuery}`, html),
    send(`${url}/checkout/${tx_token}`),
    send(`${url}/checkout/${tx_token}/?${asQuery}`),
    send(`${url}/checkout/${tx_token}x`),
    send(`${url}/checkout/${secret_key}`),
    send(`${url}/${tx_token}/${secret_key}?${asQuery}`),
    send(`${url}/v1/mobile_agents_v2?${asQuery}`, { method: 'PUT', body: JSON.stringify(hidden) }),
    send(`${url}/healthz`, {
      headers: { authorization: `Bearer ${secret_key}`, 'x-request-id': secret_key },
    }),
    checkStatus(url, { merchant_key, invoice_id }),
    checkStatus(url, { merchant_key, invoice_id, secure_hash }),
    checkStatus(url, { ...hidden, merchant_key, invoice_id: secret_key, secure_hash: sign('other', 'x') }),
    checkStatus(url, { merchant_key: secret_key, invoice_id: person.number }, '/v1/gateway/status_chk'),
    speak(url, `GET /${secret_key} HTTP/1.1\r\nname: ${person.name}\r\n${person.email}\r\n\r\n`),
  ])
}

function asForm(fields: Record<string, unknown>): string {
  const form = new URLSearchParams()
  for (const [name, value] of Object.entries(fields)) form.append(name, String(value))
  return form.toString()
}

const speak = (url: string, text: string) =>
  new Promise(resolve => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(text))
    socket.on('close', resolve).resume()
  })

const withDatabase = async <T>(work: (url: string) => Promise<T>) => {
  const embedded = await startEmbedded(dataDir, 'command')
  try {
    return await work(embedded.url)
  } finally {
    await embedded.stop()
  }
}

const cutConnections = () =>
  withDatabase(url =>
    query(url, `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'tollgate'`),
  )

// Every row of every table, as text; bytes come as hexadecimal.
const dumpDatabase = () =>
  withDatabase(async url => {
    const tables = await query(url, `select tablename from pg_tables where schemaname = 'public'`)
    const rows = tables.map(({ tablename }) => query(url, `select t::text from "${tablename}" t`))
    return (await Promise.all(rows))
      .flat()
      .map(row => row.t)
      .join('\n')
  })

// The bytes that a secret stands for: ours are spelled as hexadecimal, a password and what follows whsec_ as base64.
const bytesOf = (secret: string) =>
  /^[0-9a-f]{64}$/.test(secret)
    ? Buffer.from(secret, 'hex')
    : Buffer.from(secret.replace('whsec_', ''), 'base64')

// As it is, and as hexadecimal or base64 of its text or its bytes, whatever stands before and after it.
const spellings = (secret: string) => [
  secret,
  secret.replace('whsec_', ''),
  ...[Buffer.from(secret), bytesOf(secret)].flatMap(bytes => [bytes.toString('hex'), ...base64Of(bytes)]),
]

const base64Of = (bytes: Buffer) =>
  [0, 1, 2].map(shift =>
    Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .slice(4, -4),
  )

const secrets = () => [
  ...readFileSync(join(dataDir, 'master.key'), 'utf8').trim().split('\n'),
  ...keys.flatMap(one => [one.secret_key, one.ipn_secret]),
  ...passwords,
  ...accountSecrets,
  ...operatorSecrets,
]

function found(where: string, words: string[]) {
  const text = where.toLowerCase()
  return words.filter(word => text.includes(word.toLowerCase()))
}

test('a dump of the database holds no secret, in no spelling', () => {
  assert.ok(passwords.length === 4 && passwords.every(password => password.length === 32))
  assert.equal(operatorSecrets.length, 5) // token, form key, two links and a session
  assert.deepEqual(found(dump, secrets().flatMap(spellings)), [])
  assert.ok(dump.includes('sandbox-4f7k2q'))
  assert.deepEqual(found(dump, [...tokens, ...Object.values(stored)]), [...tokens, ...Object.values(stored)])
})

test('the files of the database contain no secret, not even in temporary ones', () => {
  const folder = join(dataDir, 'postgres')
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(file => file.isFile())
  const hidden = secrets().flatMap(secret => [Buffer.from(secret), bytesOf(secret)])
  for (const file of files) {
    const content = readFileSync(join(file.parentPath, file.name))
    assert.ok(!hidden.some(secret => content.includes(secret)), file.name)
  }
  assert.ok(files.length > 100)
})

test('the logs hold no secret, no token, no hash and nothing of a person', () => {
  assert.ok(logs.split('\n').length > 100 && logs.includes('/v1/mobile_agents_v2') && logs.includes('LOG:'))
  assert.ok(logs.includes('nobodys-4f7k2q') && !logs.includes('sandbox-4f7k2q'))
  assert.deepEqual(found(logs, [...secrets(), ...hashes].flatMap(spellings)), [])
  assert.deepEqual(
    found(
      logs,
      tokens.flatMap(token => [token, token.slice(-26)]),
    ),
    [],
  )
  const phones = [person.number, wallet].flatMap(phone => [phone.slice(1), phone.slice(-7), grouped(phone)])
  const words = [...Object.values(person), ...person.name.split(' '), 'quokka', 'wombat', 'numbat', ...phones]
  assert.deepEqual(found(logs, [...words, ...words.map(encodeURIComponent)]), [])
})

const grouped = (phone: string) => `${phone.slice(1, 3)} ${phone.slice(3, 6)}`
