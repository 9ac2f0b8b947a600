import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestGateway, testGateway } from '../support/gateway/gateway.ts'
import { send } from '../support/merchant/merchant.ts'
import { asOperator } from '../support/gateway/operatorAuth.ts'

const page = readFileSync('docs/watching.md', 'utf8')

let gateway: TestGateway
beforeAll(async () => {
  gateway = await testGateway({ TOLLGATE_REDACT_DAYS: '400' })
})
afterAll(() => gateway.stop())

test('the page names every metric, and no other', async () => {
  const { text } = await send(`${gateway.url}/metrics`, { headers: asOperator })
  const metricNames = [...text.matchAll(/^# TYPE (tollgate_\w+)/gm)].map(([, name]) => name)
  const named = [...page.matchAll(/`(tollgate_[a-z_]+)/g)].map(([, name]) => name)
  expect(new Set(named)).toEqual(new Set(metricNames))
})
