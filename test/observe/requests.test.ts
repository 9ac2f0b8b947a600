import { pino } from 'pino'
import { expect, test } from 'vitest'
import { createLog } from '../../src/observe/log.ts'
import { createMetrics } from '../../src/observe/metrics.ts'
import { createObserver, type Observed } from '../../src/observe/requests.ts'

const asked: Observed = {
  requestId: 'req_0123456789abcdef',
  method: 'POST',
  route: '/v1/mobile_agents_v2',
  http: 200,
  started: performance.now(),
}

// The lines that a log of this level has after these requests.
function linesOf(level: string, ...requests: Observed[]): string[] {
  const lines: string[] = []
  const observe = createObserver(createMetrics(), createLog(level, { write: line => void lines.push(line) }))
  for (const request of requests) observe(request)
  return lines
}

for (const [what, own] of [
  ['answered', {}],
  ['of a known merchant', { merchant_id: 'sa7anvbbg1' }],
  ['refused', { http: 400, code: 'GW-012' }],
  ['refused to a known merchant', { http: 409, code: 'GW-030', merchant_id: 'sa7anvbbg1' }],
  ['by a method with a quote in it', { method: '"', route: 'other' }],
] as [string, Partial<Observed>][])
  test(`the line of a request ${what} is as the logger writes any other`, () => {
    const [line = ''] = linesOf('info', { ...asked, ...own })
    const { level, time, msg, ...fields } = JSON.parse(line)
    const written: string[] = []
    createLog('info', { write: other => void written.push(other) }).info(fields, msg)
    const withTime = (text: string) => text.replace(/"time":"[^"]+"/, `"time":"${time}"`)
    expect(written.map(withTime)).toEqual([line])
    expect([level, msg, fields.request_id]).toEqual(['info', 'request', asked.requestId])
    expect(new Date(time).toISOString()).toBe(time)
  })

test('the cause of a refusal is a warning, whatever text it has', () => {
  const cause = 'a "word"\nof somebody'
  const [line = ''] = linesOf('info', { ...asked, http: 503, code: 'GW-050', cause })
  expect(JSON.parse(line)).toMatchObject({ level: 'warn', code: 'GW-050', cause })
})

test('a log of a higher level has no request lines; one of a lower level has the quiet routes too', () => {
  const quiet = { ...asked, method: 'GET', route: '/healthz' }
  expect(linesOf('warn', asked, quiet)).toEqual([])
  expect(linesOf('info', asked, quiet)).toHaveLength(1)
  expect(linesOf('debug', asked, quiet)).toHaveLength(2)
})

test('a logger that createLog did not make writes the line itself', () => {
  const lines: string[] = []
  const log = pino({ base: undefined }, { write: line => void lines.push(line) })
  createObserver(createMetrics(), log)(asked)
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 30, request_id: asked.requestId, status: 200 })
})
