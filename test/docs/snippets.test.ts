import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { configNames } from '../../src/config.ts'
import { warningCodes } from '../../src/core/interface/warnings.ts'
import { merchantSettingNames as merchantSettings } from '../../src/core/merchant/settings.ts'
import { ipnRequest, signingKey } from '../../src/core/notification/delivery.ts'
import { notificationBody } from '../../src/core/notification/notification.ts'
import { testNotificationBody } from '../../src/core/notification/testNotification.ts'
import { offsets } from '../../src/core/notification/schedule.ts'
import { routesOf } from '../../src/web/api/api.ts'
import type { ApiOptions } from '../../src/web/api/initiate.tsx'
import { openapiDocument } from '../../src/web/openapi/document.ts'
import type { Rule } from '../../src/web/openapi/rules.ts'
import { bodies, codes, schemas } from '../../src/web/openapi/schemas.ts'
import { storeNotification } from '../support/deliveries/notifications.ts'
import { type TestGateway, testGateway } from '../support/gateway/gateway.ts'
import { aPayment } from '../support/payments/rows.ts'

vi.setConfig({ testTimeout: 120_000 }) // it starts the programs of several languages

const page = readFileSync('docs/interface.md', 'utf8')
const settings = readFileSync('docs/settings.md', 'utf8')
const blocksIn = (language: string) =>
  [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)].flatMap(([, found, code = '']) =>
    found === language ? [code] : [],
  )

let gateway: TestGateway
let env: Record<string, string>
let forgetful: { url: string; close(): void } // accepts requests, and finds none of them in a status check

beforeAll(async () => {
  gateway = await testGateway()
  const { merchant_id, test: keys } = await gateway.addMerchant()
  const { tx_reference } = await storeNotification(gateway.db, { merchant_id, status: 'failed' })
  await storeNotification(gateway.db, { merchant_id, tx_reference })
  env = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', BASE_URL: gateway.url }
  env = { ...env, MERCHANT_KEY: keys.merchant_key, SECRET_KEY: keys.secret_key }
  forgetful = await forgetfulGateway(gateway.url, keys.merchant_key)
})
afterAll(() => {
  forgetful.close()
  return gateway.stop()
})

async function forgetfulGateway(url: string, merchant_key: string) {
  const none = new URLSearchParams({ merchant_key, invoice_id: 'none' })
  const miss = () => fetch(`${url}/v1/gateway/json_status_chk?${none.toString()}`)
  async function answer(incoming: IncomingMessage, outgoing: ServerResponse) {
    const body = Buffer.concat(await incoming.toArray())
    const headers = { 'content-type': 'application/json' }
    const pass = () => fetch(url + incoming.url, { method: 'POST', headers, body })
    const told = await (incoming.method === 'GET' ? miss() : pass())
    outgoing.writeHead(told.status, headers).end(await told.text())
  }
  const server = createServer((incoming, outgoing) => void answer(incoming, outgoing))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, close: () => void server.close() }
}

// Not spawnSync: the gateway runs in this process.
const run = async (program: string, args: string[], more: Record<string, string> = {}) =>
  (await promisify(execFile)(program, args, { env: { ...env, ...more }, timeout: 20_000 })).stdout

const missing = (programs: string[]) => programs.find(program => spawnSync(program, ['--version']).error)

const checkoutAddress = /https?:\/\/\S+\/checkout\/[0-9a-z]{42}/
const waits = /awaiting_payment[^]*\nNot paid\n$/

for (const { language, needs, argsOf, prints } of [
  {
    language: 'sh',
    needs: ['sh', 'curl', 'openssl'],
    argsOf: (code: string) => ['-ec', code],
    prints: [
      [/6917989e5641c85d49a8f8045e3abd1da701af0d1326a88de0b8ff860ef46583/],
      [checkoutAddress, waits],
      [/"likely_mistake":"the names are not in alphabetical order: .*"mistake":"other_order"/],
      [checkoutAddress, /"warnings":\[\{"field":"Description","code":"field_case",.*"code":"never_called"/],
      [/"events":\[\{"cursor":"1",.*"next":"2","more":false\}/],
      [/^\{"success":true,"status":"ok","requests":\[.*\],"next":null\}/],
      [
        /"outcome":"no_answer","status":"awaiting_payment".*\n.*"advanced_seconds":86400,"moved":\{"payments":\d+,/,
      ],
    ],
  },
  {
    language: 'js',
    needs: [process.execPath],
    argsOf: (code: string) => ['--input-type=module', '-e', code],
    prints: [
      [checkoutAddress, waits],
      [/^The signature is right\nThe altered one is wrong\n$/],
      [/^TG-\S+-N1 failed\nTG-\S+-N2 paid\n(TG-\S+-N1 failed\n)*Go on after \d+\n$/], // more if a clock was advanced
    ],
  },
  {
    language: 'python',
    needs: ['python3'],
    argsOf: (code: string) => ['-c', code],
    prints: [[checkoutAddress, waits], [/^The signature is right\nThe altered one is wrong\n$/]],
  },
  {
    language: 'php',
    needs: ['php'],
    argsOf: (code: string) => ['-r', code.replace('<?php', '')],
    prints: [[checkoutAddress, waits], [/^The signature is right\nThe altered one is wrong\n$/]],
  },
]) {
  const lacking = missing(needs)
  if (lacking)
    console.warn(`SKIPPED: ${lacking} is not on this machine, so the ${language} examples were not run.`)
  test.skipIf(lacking)(`the ${language} examples do what the page says`, async () => {
    const examples = blocksIn(language)
    expect(examples).toHaveLength(prints.length)
    for (const [at, code] of examples.entries()) {
      const output = await run(needs[0] ?? '', argsOf(code))
      for (const pattern of prints[at] ?? []) expect(output).toMatch(pattern)
    }
  })

  test.skipIf(lacking)(`the ${language} example of a payment stops if there is no such payment`, async () => {
    const at = prints.findIndex(([first]) => first === checkoutAddress)
    const shown = run(needs[0] ?? '', argsOf(blocksIn(language)[at] ?? ''), { BASE_URL: forgetful.url })
    const output = await shown.catch(
      (ended: { stdout: string; stderr: string }) => ended.stdout + ended.stderr,
    )
    expect(output).toMatch(/GW-005/)
    expect(output).not.toMatch(/Not paid|Deliver it/)
  })
}

test('the page lists every address of the interface, and the description has each', () => {
  const { paths } = openapiDocument('')
  for (const path of Object.keys(paths)) expect(page, path).toContain(`\`${path}\``)
  for (const [path, route] of routesOf({} as ApiOptions)) {
    const described = Object.keys(paths[path] ?? {}).map(method => method.toUpperCase())
    expect([path, ...described.toSorted()]).toEqual([path, ...Object.keys(route).toSorted()])
  }
})

test('the bodies on the page have the keys of real ones', () => {
  const [stored, refused, , told, tested, events, triggered, advanced] = blocksIn('json').map(code =>
    JSON.parse(code),
  )
  expect(bodies.PaymentStored.parse(stored)).toEqual(stored)
  expect(bodies.ErrorBody.parse(refused)).toEqual(refused)
  expect(Object.keys(told)).toEqual(Object.keys(JSON.parse(notificationBody(aPayment(), 'post'))))
  const body = testNotificationBody(tested.tx_reference, { ipn_style: 'post', currencies: ['GHS'] })
  expect(tested).toEqual(JSON.parse(body))
  expect(bodies.EventsAnswer.parse(events)).toEqual(events)
  expect(bodies.TriggerAnswer.parse(triggered)).toEqual(triggered)
  expect(bodies.ClockAnswer.parse(advanced)).toEqual(advanced)
})

test('the signature on the page is correct', () => {
  const [, secret = ''] = /'(whsec_[^']+)'/.exec(page) ?? []
  const [, body = ''] = /const body = '([^']+)'/.exec(page) ?? []
  const delivery = {
    merchant_id: '',
    tx_reference: 'TG-1KJPY4-4E027Z-Q8W4TD',
    sequence: 1,
    url: 'https://shop.example',
    style: 'post' as const,
    tries: 1,
    body,
  }
  const { headers } = ipnRequest(
    delivery,
    { keys: [signingKey(secret)], merchant_key: '', passwordOrigins: [] },
    new Date(1_772_443_800_000),
  )
  expect(page).toContain(`'webhook-signature': '${headers['webhook-signature']}'`)
  for (const name of Object.keys(headers).filter(header => header.startsWith('webhook-')))
    expect(page).toContain(`\`${name}\``)
})

test('the table of tries is the real schedule', () => {
  const units: Record<string, number> = { h: 3_600_000, min: 60_000, s: 1000 }
  const rows = [...page.matchAll(/\| (\d+) \| (at once|(?:\d+ (?:h|min|s) ?)+)(?= \|)/g)]
  const planned = rows.map(([, number, words = '']) => {
    const parts = [...words.matchAll(/(\d+) (h|min|s)/g)]
    return [
      Number(number),
      parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (units[unit] ?? 0), 0),
    ]
  })
  expect(planned.sort(([a = 0], [b = 0]) => a - b)).toEqual(offsets.map((offset, at) => [at + 1, offset]))
})

test('the page names every field, key, code and setting', () => {
  const { extra } = bodies.StatusRecord.shape
  for (const name of [
    ...Object.keys(schemas.PaymentRequest.properties),
    ...Object.keys(bodies.StatusRecord.shape),
    ...Object.keys(extra.shape),
    ...merchantSettings,
    ...Object.keys(bodies.EventsAnswer.shape.events.element.shape),
    'next',
    'more',
    'after',
    'limit',
    ...Object.keys(bodies.RequestsAnswer.shape.requests.element.shape),
    ...warningCodes,
    'warnings',
    'error.differences',
    ...Object.keys(bodies.ErrorBody.shape.error.shape.hint.unwrap().shape),
  ])
    expect(page).toContain(`\`${name}\``)
  for (const code of codes) expect(page).toContain(`| ${code} |`)
})

test('the page of settings has every setting of the program in its table', () => {
  for (const name of configNames) expect(settings).toContain(`| \`${name}\` |`)
})

test('the page has every rule that a schema cannot express, with its error', () => {
  const operations = Object.values(openapiDocument('').paths).flatMap(path => Object.values(path))
  const rules = operations.flatMap(one => (one['x-further-rules'] ?? []) as Rule[])
  expect(rules.length).toBeGreaterThan(30)
  for (const { field, rule, http, code } of rules) {
    const row = page.split('\n').find(line => line.includes(`| ${rule} | ${http} ${code} |`))
    expect(row, rule).toBeDefined()
    if (field && field !== '*') expect(row, rule).toContain(`\`${field}\``)
  }
})
