import { expect, test } from 'vitest'
import { banner } from '../../../src/cli/start/banner.ts'
import { readConfig } from '../../../src/config.ts'

const url = 'http://127.0.0.1:8080'
const tokens = { TOLLGATE_SUPPORT_TOKEN: 'x'.repeat(16), TOLLGATE_METRICS_TOKEN: 'y'.repeat(16) }

function lines(env: Record<string, string>) {
  const baseUrl = env.TOLLGATE_BASE_URL ?? url
  const text = banner({ url, baseUrl, embedded: true, stop: async () => {} }, readConfig(env))
  return ['Support', 'Mails and SMS', 'Metrics'].map(
    name => new RegExp(`^ +${name} +(.+)$`, 'm').exec(text)?.[1],
  )
}

for (const [what, env, support, metrics] of [
  ['open to this machine', {}, '', ''],
  [
    'shut for want of a token',
    { TOLLGATE_BASE_URL: 'https://pay.example' },
    ' (shut: set TOLLGATE_SUPPORT_TOKEN)',
    ' (shut: set TOLLGATE_METRICS_TOKEN)',
  ],
  [
    'open to who has the token',
    { TOLLGATE_TRUST_PROXY: '1', ...tokens },
    ' (asks for TOLLGATE_SUPPORT_TOKEN)',
    ' (asks for TOLLGATE_METRICS_TOKEN)',
  ],
] as const)
  test(`pages of the operator, ${what}, are shown as such`, () => {
    const shown = lines(env)
    expect(shown).toEqual([`${url}/support${support}`, `${url}/inbox${support}`, `${url}/metrics${metrics}`])
    expect(shown.join()).not.toMatch(/x{16}|y{16}/)
  })
