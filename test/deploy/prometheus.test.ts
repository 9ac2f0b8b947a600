import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../support/deploy/nginx.ts'
import { operatorToken } from '../support/gateway/operatorAuth.ts'
import { type TestGateway, testGateway } from '../support/gateway/gateway.ts'
import { checkStatus, post, send, signedRequest } from '../support/merchant/merchant.ts'
import { openReceiver, type Receiver } from '../support/merchant/receiver.ts'
import { postRefund, signedRefund } from '../support/merchant/refunds.ts'
import { trigger } from '../support/merchant/testTools.ts'

// A real Prometheus scrapes a gateway that takes payments: each query of the board and of the alerts finds its series.
const lacksPrometheus = spawnSync('prometheus', ['--version']).error !== undefined
if (lacksPrometheus)
  console.warn(
    'SKIPPED: prometheus is not on this machine, so no query of the board and the alerts was evaluated.',
  )

// Without a fault there is nothing to count.
const emptyWithoutFault = [
  'sum by (route, status) (rate(tollgate_http_requests_total{status=~"5.."}[5m]))',
  'TollgateErrors',
  'TollgateAttemptsNotPolled',
]

type Query = { name: string; expr: string; legend: string }
type Panel = { title: string; targets?: { expr: string; legendFormat: string }[] }
type Series = { metric: Record<string, string>; value: [number, string] }

const board: Query[] = (
  JSON.parse(readFileSync('deploy/grafana/tollgate.json', 'utf8')).panels as Panel[]
).flatMap(({ title, targets = [] }) =>
  targets.map(({ expr, legendFormat }) => ({ name: title, expr, legend: legendFormat })),
)

// An alert has a value only while it fires. With `bool` its comparison has one always, if its metrics have.
const alerts: Query[] = readFileSync('deploy/prometheus/tollgate.rules.yml', 'utf8')
  .split('- alert: ')
  .slice(1)
  .map(text => {
    const [name = ''] = text.split('\n')
    const expr = /expr: (?:>-\n)?([\s\S]*?)\n {8}(?:for|labels):/.exec(text)?.[1] ?? ''
    return { name, expr: expr.replaceAll(/\s+/g, ' ').replaceAll(/ (==|>) /g, ' $1 bool '), legend: '' }
  })

let folder: string
let gateway: TestGateway
let shopSite: Receiver
let prometheus: ReturnType<typeof spawn>
let address: string

beforeAll(async () => {
  if (lacksPrometheus) return
  folder = mkdtempSync(join(tmpdir(), 'tollgate-prometheus-'))
  shopSite = await openReceiver()
  gateway = await testGateway({ TOLLGATE_EGRESS_LOOPBACK: 'on' })
  await takePayments()
  const port = await freePort()
  address = `http://127.0.0.1:${port}`
  writeFileSync(
    join(folder, 'prometheus.yml'),
    JSON.stringify({
      global: { scrape_interval: '1s', scrape_timeout: '1s' },
      scrape_configs: [
        {
          job_name: 'tollgate',
          authorization: { credentials: operatorToken },
          static_configs: [{ targets: [new URL(gateway.url).host] }],
        },
      ],
    }),
  )
  prometheus = spawn(
    'prometheus',
    [
      `--config.file=${folder}/prometheus.yml`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: 'ignore' },
  )
  await untilScraped(3)
})
afterAll(async () => {
  if (lacksPrometheus) return
  const ended = once(prometheus, 'exit')
  prometheus.kill('SIGKILL')
  await ended
  await gateway.stop()
  await shopSite.close()
  rmSync(folder, { recursive: true, force: true })
})

// A paid payment with its notification, a refund, a refusal and a webhook.
async function takePayments() {
  const shop = (await gateway.addMerchant(`ipn_url=${shopSite.url}/ipn`)).test
  const request = signedRequest(shop)
  await post(gateway.url, request)
  await trigger(gateway.url, shop, { invoice_id: request.invoice_id, outcome: 'paid' })
  await post(gateway.url, { ...request, secure_hash: 'wrong' })
  await send(`${gateway.url}/callbacks/account/none`, { method: 'POST', body: '{}' })
  for (let tries = 0; tries < 100; tries++) {
    const { body } = await checkStatus(gateway.url, {
      merchant_key: shop.merchant_key,
      invoice_id: request.invoice_id,
    })
    if (body.status === 'paid' && shopSite.received.length > 0) break
    await sleep(100)
  }
  const { text } = await postRefund(gateway.url, signedRefund(shop, { invoice_id: request.invoice_id }))
  expect(text).toContain('refund_reference')
}

async function ask(expr: string): Promise<{ series: Series[]; error?: string }> {
  const body = new URLSearchParams({ query: expr })
  const answer = await fetch(`${address}/api/v1/query`, { method: 'POST', body })
  const { data, error } = (await answer.json()) as { data?: { result: Series[] }; error?: string }
  return { series: data?.result ?? [], error }
}

async function untilScraped(scrapes: number) {
  for (let tries = 0; tries < 600; tries++) {
    const { series } = await ask('count_over_time(tollgate_build_info[5m])').catch(() => ({
      series: [] as Series[],
    }))
    if (Number(series[0]?.value[1] ?? 0) >= scrapes) return
    await sleep(100)
  }
  throw new Error('Prometheus has not scraped the gateway')
}

test.skipIf(lacksPrometheus)('every query of the board and of the alerts finds series', async () => {
  expect(board.length).toBeGreaterThan(30)
  expect(alerts.length).toBeGreaterThan(15)
  const faults: string[] = []
  for (const { name, expr } of [...board, ...alerts]) {
    const { series, error } = await ask(expr)
    const mayBeEmpty = emptyWithoutFault.includes(expr) || emptyWithoutFault.includes(name)
    if (error) faults.push(`${name}: ${error}`)
    else if (series.length === 0 && !mayBeEmpty) faults.push(`${name}: no series for ${expr}`)
  }
  expect(faults).toEqual([])
})

test.skipIf(lacksPrometheus)(
  'a legend names only labels that its series have, and tells them apart',
  async () => {
    for (const { name, expr, legend } of board) {
      const { series } = await ask(expr)
      const names = [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label as string)
      const shown = series.map(({ metric }) => names.map(label => metric[label]))
      expect(shown.flat(), name).not.toContain(undefined)
      expect(new Set(shown.map(String)).size, `${name} has series with the same legend`).toBe(series.length)
    }
  },
)

test.skipIf(lacksPrometheus)('no alert fires on a gateway that works', async () => {
  const firing: string[] = []
  for (const { name, expr } of alerts) {
    const { series } = await ask(expr.replaceAll(' bool', ''))
    if (series.length > 0) firing.push(name)
  }
  expect(firing.filter(name => name !== 'TollgateBackupOld')).toEqual([]) // no backup was made
})
