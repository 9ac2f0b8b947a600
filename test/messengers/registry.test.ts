import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import type { MessengerModule } from '../../src/core/message/messenger.ts'
import smpp from '../../src/messengers/smpp.ts'
import smsHttp from '../../src/messengers/smsHttp.ts'
import smtp from '../../src/messengers/smtp.ts'
import { openMessengers } from '../../src/runtime/messengers.ts'
import { newMessage, newTools, openMessenger } from './tools.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-messengers-'))
afterAll(() => rmSync(folder, { recursive: true }))

// Each messenger is one new file.
const files = {
  'beta.js':
    "() => ({ medium: 'sms', send: async () => ({ state: 'sent', provider_ref: 'beta' }), close: async () => {} })",
  'alpha.js':
    "({ ALPHA }) => ALPHA && { medium: 'sms', send: async () => ({ state: 'sent', provider_ref: ALPHA }), close: async () => {} }",
  'crash.js':
    "({ CRASH }) => CRASH && { medium: 'email', send: () => { throw new Error(CRASH) }, close: async () => { throw new Error('again') } }",
  'slow.js':
    "({ SLOW }, { warn }) => SLOW && { medium: 'email', send: () => new Promise(done => setTimeout(done, 300, { state: 'sent' })), close: async () => warn('slow is closed') }",
  'wrong.js': "({ WRONG }) => { if (WRONG) throw new Error('WRONG: must not be set.') }",
}
for (const [name, open] of Object.entries(files))
  writeFileSync(
    join(folder, name),
    `const make = ${open}
    export default { readSettings: make, open: messenger => messenger }`,
  )
writeFileSync(join(folder, 'notes.d.ts'), 'not a messenger')

const tools = newTools()
const open = (settings: Record<string, string>) =>
  openMessengers(settings, tools, pathToFileURL(`${folder}/`))

test('every messenger is a file with tests', () => {
  const names = readdirSync('src/messengers').filter(name => name.endsWith('.ts'))
  expect(names).toEqual(['smpp.ts', 'smsHttp.ts', 'smtp.ts'])
  const untested = names.filter(name => !existsSync(`test/messengers/${name.replace(/\.ts$/, '.test.ts')}`))
  expect(untested).toEqual([])
})

test('every messenger reads its settings without being opened', () => {
  for (const module of [smpp, smsHttp, smtp]) expect(module.readSettings({}, tools)).toBeUndefined()
})

test('the messengers of the gateway: none without settings, each by its settings, wrong ones throw at the start', async () => {
  const none = await openMessengers({}, tools)
  expect([none.configured('sms'), none.configured('email'), none.find('sms')]).toEqual([
    false,
    false,
    undefined,
  ])
  const email = { SMTP_URL: 'smtp://127.0.0.1:1', SMTP_FROM: 'pay@example.com' }
  const byHttp = { SMS_HTTP_URL: 'http://127.0.0.1:1/', SMS_HTTP_BODY: 'to={to}&text={text}' }
  const both = await openMessengers({ ...email, ...byHttp }, tools)
  expect([both.find('email')?.name, both.find('sms')?.name]).toEqual(['smtp', 'smsHttp'])
  await both.close()
  const bySmpp = { SMPP_URL: 'smpp://a:b@127.0.0.1:1', SMPP_FROM: 'Tollgate' }
  const all = await openMessengers({ ...email, ...byHttp, ...bySmpp }, tools)
  expect(all.find('sms')?.name).toBe('smpp')
  await all.close()
  await expect(openMessengers({ ...bySmpp, ...email, SMTP_FROM: 'x' }, tools)).rejects.toThrow('SMTP_FROM: ')
})

test('of two messengers for a medium, the first by name is used', async () => {
  const { find } = await open({})
  expect(find('sms')?.name).toBe('beta')
  expect((await open({ ALPHA: 'a' })).find('sms')?.name).toBe('alpha')
  expect(await find('sms')?.messenger.send(newMessage())).toEqual({ state: 'sent', provider_ref: 'beta' })
})

test('a messenger that throws loses no message, and closing continues', async () => {
  const messengers = await open({ CRASH: 'Oops.' })
  expect(await messengers.find('email')?.messenger.send(newMessage())).toEqual({
    state: 'retry',
    reason: 'Oops.',
  })
  await messengers.close()
})

test('at most 100 messages are in flight, and none after closing', async () => {
  const messengers = await open({ SLOW: 'yes' })
  const slow = messengers.find('email')?.messenger
  assert.ok(slow)
  const sent = await Promise.all(Array.from({ length: 130 }, () => slow.send(newMessage())))
  expect(sent.filter(({ state }) => state === 'sent')).toHaveLength(100)
  expect(sent.filter(({ state }) => state === 'retry')).toHaveLength(30)
  expect((await slow.send(newMessage())).state).toBe('sent')
  await messengers.close()
  expect((await slow.send(newMessage())).state).toBe('retry')
})

test('wrong settings of one messenger stop the start, and open messengers are closed', async () => {
  tools.warnings.length = 0
  await expect(open({ SLOW: 'yes', WRONG: 'yes' })).rejects.toThrow('WRONG: must not be set.')
  expect(tools.warnings).toEqual(['slow is closed'])
})

test('the examples in the documentation work', () => {
  const page = readFileSync('docs/messengers.md', 'utf8')
  const modules: Record<string, MessengerModule<any>> = {
    SMTP_URL: smtp,
    SMPP_URL: smpp,
    SMS_HTTP_URL: smsHttp,
  }
  const examples = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) =>
    Object.fromEntries([...block.matchAll(/^(\w+)='(.*)'$/gm)].map(([, name, value]) => [name, value])),
  )
  const settled = examples.filter(settings => Object.keys(settings).length > 0) // others are commands
  expect(settled).toHaveLength(4)
  for (const settings of settled) {
    const [name] = Object.keys(modules).filter(one => one in settings)
    const messenger = openMessenger(modules[name as string] as MessengerModule<any>, settings, newTools())
    expect(messenger?.medium).toBe(name === 'SMTP_URL' ? 'email' : 'sms')
    void messenger?.close()
  }
})

test('every setting is in the documentation', () => {
  const page = readFileSync('docs/messengers.md', 'utf8')
  const sources = readdirSync('src/messengers', { recursive: true, encoding: 'utf8' }).filter(name =>
    name.endsWith('.ts'),
  )
  const names = sources.flatMap(
    name => readFileSync(join('src/messengers', name), 'utf8').match(/\b(SMTP|SMPP|SMS)_[A-Z_]+\b/g) ?? [],
  )
  expect(new Set(names).size).toBeGreaterThan(10)
  expect([...new Set(names)].filter(name => !page.includes(`| \`${name}\` |`))).toEqual([])
})
