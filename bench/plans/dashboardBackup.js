// A backup of the same payments: how long it takes, how large its file is, and how much memory the command needs.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMeter } from '../contenders/meter.js'
import { cpuMs, peakMemoryMb } from '../contenders/usage.js'
import { masterKey } from '../rows/database.js'
import { thisVersion } from '../version.js'

const sampleMs = 50
const peakBelowMb = 200 // of a database of any size

// `places`: the gateways of plans/dashboard.js, which run meanwhile.
export function dashboardBackupSection(bench, { rounds, places }) {
  const place = /** @type {any} */ ({}) // known when it is prepared
  return {
    title: 'Dashboard, backup',
    table: 'backup',
    about: [
      'A backup of the database with the small merchant, and of the one with both, by tollgate backup beside its gateway.',
      'Memory is the most that the command has. CPU of the command, and of PostgreSQL, is for one payment.',
    ],
    rounds,
    job: { warmMs: 0, measureMs: 60_000 },
    contenders: [
      { id: 'few', label: 'small', run: () => backUp(bench, place.few) },
      { id: 'many', label: 'large', run: () => backUp(bench, place.many) },
    ],
    ratios: [],
    limits: [{ name: 'memory of a backup, MB', of: 'many', by: 'peakMb', below: peakBelowMb }],
    prepare: async () => void Object.assign(place, await places()),
  }
}

async function backUp(bench, { url }) {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-backup-'))
  const child = spawn(thisVersion.program, ['backup', '--out', `${folder}/`, '--json'], {
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      DATABASE_URL: url,
      TOLLGATE_MASTER_KEY: masterKey,
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let [usedMs, peakMb, text] = [0, 0, '']
  const meter = createMeter({ postgres: bench.server.cpuMs, gateway: () => usedMs })
  meter.start()
  const began = performance.now()
  child.stdout.on('data', data => (text += data))
  const sampling = setInterval(() => {
    if (child.exitCode !== null) return
    usedMs = cpuMs(child.pid) || usedMs
    peakMb = Math.max(peakMb, peakMemoryMb(child.pid) || 0)
  }, sampleMs)
  const [code] = await once(child, 'close')
  clearInterval(sampling)
  const seconds = (performance.now() - began) / 1000
  meter.stop()
  rmSync(folder, { recursive: true, force: true })
  if (code !== 0) throw new Error(`The backup ended with ${code}.`)
  const { tables, bytes } = JSON.parse(text)
  const requests = tables.find(({ name }) => name === 'payments').rows
  const rows = tables.reduce((sum, table) => sum + table.rows, 0)
  const figures = meter.complete({ requests, rate: requests / seconds, p50: 0, p99: 0, cpuMs: 0 })
  return { ...figures, rows, seconds, fileMb: bytes / 1e6, peakMb }
}
