import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { mergeMetrics } from '../../src/observe/mergeMetrics.ts'
import { createMetrics } from '../../src/observe/metrics.ts'

const pageOf = (process: number, text: string) =>
  text
    .split('\n')
    .map(line => line.replace(/^(\w+) /, `$1{process="${process}"} `))
    .join('\n')

test('the samples of a metric stand together, below its two lines', () => {
  const page =
    '# HELP a_total An a.\n# TYPE a_total counter\na_total 1\n\n# HELP b A b.\n# TYPE b gauge\nb 2\n'
  const second = '# HELP b A b.\n# TYPE b gauge\nb 3\n'
  expect(mergeMetrics([pageOf(1, page), pageOf(2, second)])).toBe(
    '# HELP a_total An a.\n# TYPE a_total counter\na_total{process="1"} 1\n\n' +
      '# HELP b A b.\n# TYPE b gauge\nb{process="1"} 2\nb{process="2"} 3\n',
  )
})

test('one page stays as it is, with metrics that have no sample', async () => {
  const registry = new Registry()
  const metrics = createMetrics()
  metrics.requests.inc({ route: '/', method: 'GET', status: '200' })
  for (const page of [await registry.metrics(), await metrics.registry.metrics()])
    expect(mergeMetrics([page]).trim()).toBe(page.trim())
})

test('a scrape has the metrics of all processes, each with its label', async () => {
  const other = createMetrics({ process: 2, shareMetrics: () => {}, metricsOfOthers: async () => [] })
  let shared: (() => Promise<string>) | undefined
  const own = createMetrics({
    process: 1,
    shareMetrics: read => void (shared = read),
    metricsOfOthers: async () => [await other.text()],
  })
  own.refusals.inc({ code: 'GW-001' }, 3)
  other.refusals.inc({ code: 'GW-001' }, 4)
  const scraped = await own.text()
  expect(scraped).toContain('tollgate_refusals_total{code="GW-001",process="1"} 3\n')
  expect(scraped).toContain('tollgate_refusals_total{code="GW-001",process="2"} 4\n')
  expect(scraped.match(/^# TYPE tollgate_refusals_total /gm)).toHaveLength(1)
  expect(await shared?.()).not.toContain('process="2"') // what this process tells the others is its own
})
