import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { settingNames } from '../../src/config.ts'
import { settingNames as merchantSettings } from '../../src/core/settings.ts'
import { codes } from '../../src/web/openapi/codes.ts'
import { bodies, jsonSchemas } from '../../src/web/openapi/schemas.ts'
import { type TestGateway, testGateway } from '../support/gateway.ts'

const page = readFileSync('docs/interface.md', 'utf8')
const readme = readFileSync('README.md', 'utf8')
const blocksIn = (language: string) =>
  [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)].flatMap(([, found, code = '']) =>
    found === language ? [code] : [],
  )

let gateway: TestGateway
let env: Record<string, string>

beforeAll(async () => {
  gateway = await testGateway()
  const { test: keys } = await gateway.addMerchant()
  env = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', BASE_URL: gateway.url }
  env = { ...env, MERCHANT_KEY: keys.merchant_key, SECRET_KEY: keys.secret_key }
})
afterAll(() => gateway.stop())

// Not spawnSync: the gateway answers from this very process.
const run = async (program: string, args: string[]) =>
  (await promisify(execFile)(program, args, { env, timeout: 20_000 })).stdout

const missing = (programs: string[]) => programs.find(program => spawnSync(program, ['--version']).error)

const checkoutAddress = /https?:\/\/\S+\/checkout\/[0-9a-z]{42}/
const waits = /awaiting_payment/

for (const { language, needs, argsOf, prints } of [
  {
    language: 'sh',
    needs: ['sh', 'curl', 'openssl'],
    argsOf: (code: string) => ['-ec', code],
    prints: [[/6917989e5641c85d49a8f8045e3abd1da701af0d1326a88de0b8ff860ef46583/], [checkoutAddress, waits]],
  },
  {
    language: 'js',
    needs: [process.execPath],
    argsOf: (code: string) => ['--input-type=module', '-e', code],
    prints: [[checkoutAddress, waits]],
  },
  {
    language: 'python',
    needs: ['python3'],
    argsOf: (code: string) => ['-c', code],
    prints: [[checkoutAddress, waits]],
  },
  {
    language: 'php',
    needs: ['php'],
    argsOf: (code: string) => ['-r', code.replace('<?php', '')],
    prints: [[checkoutAddress, waits]],
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
}

test('the bodies on the page have the keys that we send', () => {
  const [stored, refused] = blocksIn('json').map(code => JSON.parse(code))
  expect(bodies.PaymentStored.parse(stored)).toEqual(stored)
  expect(bodies.ErrorBody.parse(refused)).toEqual(refused)
})

test('the page names every field, key, code and setting', () => {
  const { extra } = bodies.StatusRecord.shape
  for (const name of [
    ...Object.keys(jsonSchemas().PaymentRequest.properties),
    ...Object.keys(bodies.StatusRecord.shape),
    ...Object.keys(extra.shape),
    ...merchantSettings,
  ])
    expect(page).toContain(`\`${name}\``)
  for (const code of codes) expect(page).toContain(`| ${code} |`)
})

test('the README has every setting of the program in its table', () => {
  for (const name of settingNames) expect(readme).toContain(`| \`${name}\` |`)
})
