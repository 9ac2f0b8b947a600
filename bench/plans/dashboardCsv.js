// A download of very many payments as CSV: how fast it is, and how much memory the gateway needs meanwhile.
import { createMeter } from '../contenders/meter.js'

const sampleMs = 50
const growthBelowMb = 60 // of a download of any size
const warmUpLines = 20_000

// `places`: the gateways of plans/dashboard.js.
export function dashboardCsvSection(bench, { rounds, places }) {
  const place = /** @type {any} */ ({}) // known when it is prepared
  return {
    title: 'Dashboard, CSV',
    table: 'csv',
    about: [
      'The payments of thirty days as CSV, read as fast as they come. Memory is that of the gateway, which has sent a short CSV',
      'before.',
    ],
    rounds,
    job: { warmMs: 0, measureMs: 30_000 },
    contenders: [
      { id: 'few', label: 'small', run: () => download(bench, place.few) },
      { id: 'many', label: 'large', run: () => download(bench, place.many) },
    ],
    ratios: [],
    limits: [{ name: 'growth of the memory, MB', of: 'many', by: 'growthMb', below: growthBelowMb }],
    async prepare() {
      Object.assign(place, await places())
      await download(bench, place.many, warmUpLines)
    },
  }
}

// The whole file, or at least so many lines of it.
export async function download(bench, { gateway, cookies, ...place }, most = Infinity) {
  const { merchant_id, monthAgo, today } = place
  const path = `/dashboard/m/${merchant_id}/test/payments.csv?from=${monthAgo}&to=${today}`
  const meter = createMeter({ postgres: bench.server.cpuMs, gateway: gateway.cpuMs })
  const startMb = gateway.memoryMb()
  let peakMb = startMb
  const sampling = setInterval(() => (peakMb = Math.max(peakMb, gateway.memoryMb())), sampleMs)
  meter.start()
  const began = performance.now()
  let lines = 0
  const answer = await fetch(`http://127.0.0.1:${gateway.port}${path}`, {
    headers: { cookie: cookies.owner },
  })
  if (answer.status !== 200 || !answer.body) throw new Error(`The CSV was answered with ${answer.status}.`)
  for await (const chunk of answer.body) {
    for (const byte of chunk) if (byte === 10) lines++
    if (lines > most) break // which closes the connection
  }
  const seconds = (performance.now() - began) / 1000
  meter.stop()
  clearInterval(sampling)
  const requests = lines - 1 // the first line has the names
  const figures = meter.complete({ requests, rate: requests / seconds, p50: 0, p99: 0, cpuMs: 0 })
  return { ...figures, seconds, startMb, peakMb, growthMb: peakMb - startMb }
}
