import { expect, test } from 'vitest'
import { banner } from '../../../src/cli/start/banner.ts'
import { readConfig } from '../../../src/config.ts'

const url = 'http://127.0.0.1:8080'
const tokens = { TOLLGATE_SUPPORT_TOKEN: 'x'.repeat(16), TOLLGATE_METRICS_TOKEN: 'y'.repeat(16) }
const link = `${url}/support/enter?link=abc`

const textOf = (env: Record<string, string>, shown?: string) => {
  const made = { link, expires_at: new Date() }
  const gateway = {
    url,
    baseUrl: url,
    dashboardUrl: url,
    embedded: true,
    hasDemo: true,
    hasUsers: false,
    makeSupportLink: async () => made,
    stop: async () => {},
  }
  return banner(gateway, readConfig(env), shown)
}

for (const env of [{}, tokens])
  test(`the pages of the operator are named, with ${Object.keys(env).length} tokens set, and no token`, () => {
    const text = textOf(env)
    for (const [name, path] of [
      ['Support', '/support'],
      ['Emails and SMS', '/inbox'],
      ['Metrics', '/metrics'],
    ])
      expect(text).toMatch(new RegExp(`^ +${name} +${url}${path}$`, 'm'))
    expect(text).not.toMatch(/x{16}|y{16}/)
  })

test('the database is named without user and password, also if the password has an @', () => {
  const DATABASE_URL = 'postgres://user:se@cret@db.example:5433/tollgate?sslmode=require'
  const gateway = { url, baseUrl: url, dashboardUrl: url, embedded: false, hasDemo: false, hasUsers: true }
  const all = {
    ...gateway,
    makeSupportLink: async () => ({ link, expires_at: new Date() }),
    stop: async () => {},
  }
  const text = banner(all, readConfig({ DATABASE_URL }))
  expect(text).toMatch(/Database +postgres:\/\/db\.example:5433\/tollgate$/m)
  expect(text).not.toMatch(/user|cret/)
})

test('on a copy of the database it says so', () => {
  const gateway = { url, baseUrl: url, dashboardUrl: url, embedded: true, hasDemo: true, hasUsers: true }
  const made = { link, expires_at: new Date() }
  const all = { ...gateway, makeSupportLink: async () => made, stop: async () => {} }
  expect(banner({ ...all, notOriginal: 'It is a copy.' }, readConfig({}))).toContain('It is a copy.')
})

test('a terminal gets the link that signs in, and anything else the command that makes one', () => {
  expect(textOf({}, link)).toContain(`\n  ${link}\n  It works once, within 15 minutes,`)
  expect(textOf({})).toContain('\n  npx tollgate support link\n')
  expect(textOf({})).not.toContain('enter?link')
})

test('with the demo merchant the shop comes first, unless nobody could pay in it', () => {
  const demo = { name: 'Demo Shop', merchant_key: 'tk_x', request: { invoice_id: 'DEMO-1' } }
  const gateway = {
    url,
    baseUrl: url,
    dashboardUrl: url,
    embedded: true,
    hasDemo: true,
    hasUsers: false,
    welcome: demo,
    makeSupportLink: async () => never,
    stop: async () => {},
  }
  const lines = (env: Record<string, string>) => banner(gateway, readConfig(env)).split('\n')
  const shop = `  ${url}/`
  expect(lines({}).indexOf(shop)).toBeLessThan(8)
  expect(lines({})).toContain(shop)
  expect(lines({ TOLLGATE_SANDBOX: 'off' })).not.toContain(shop)
  expect(textOf({})).not.toContain('demo shop')
})

const never = { link, expires_at: new Date() }
