// node bench/citus.js: one PostgreSQL 15 beside a Citus coordinator with two workers, with the same load, in turn, as
// docs/database.md has it. All of them share this machine, so it shows what a sharded database costs and not what more machines
// bring. `--quick` for one short round.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runnerImport } from 'vite'
import { startGateway } from './contenders/gateway.js'
import { startPayProvider } from './endpoints/payProvider.js'
import { startWorker } from './load/worker.js'
import { sharded } from './plans/sharded.js'
import { createProgress } from './report/progress.js'
import { footnotes, sectionText } from './report/text.js'
import { lengthOfSection, runSection } from './rounds.js'
import { clusterServer } from './rows/clusterServer.js'
import { thisVersion } from './version.js'

const lengths = {
  whole: { rounds: 4, measureMs: 3000, warmUpMs: 4000, count: 256, payers: 200 },
  quick: { rounds: 1, measureMs: 700, warmUpMs: 0, count: 64, payers: 20 },
}
const settings = { shared_preload_libraries: 'citus', shared_buffers: '256MB' }

const closers = []
const kept = thing => {
  closers.push(() => thing.stop())
  return thing
}

// TypeScript, which Node 20 does not read by itself.
const clusterModule = async name => {
  const file = fileURLToPath(new URL(`../test/cluster/${name}.ts`, import.meta.url))
  return (await runnerImport(file, { configFile: false, logLevel: 'error' })).module
}

// Both run the same programs, on the disk of the folder for temporary files, with durable commits.
async function startServers() {
  const [{ startCitus }, { citusPrograms }, { startMajor }] = await Promise.all(
    ['citus', 'citusBuild', 'postgres'].map(clusterModule),
  )
  const place = tmpdir()
  const bin = await citusPrograms(console.error)
  const one = kept(
    await startMajor(15, console.error, {
      place,
      bin,
      settings: { shared_buffers: settings.shared_buffers },
    }),
  )
  const citus = kept(await startCitus(console.error, { place, settings }))
  return [await clusterServer(one), await clusterServer(citus)]
}

async function main(size) {
  await thisVersion.build()
  const [one, citus] = await startServers()
  console.log(`${one.what}\n${citus.what}\n`)
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-'))
  closers.push(() => rmSync(folder, { recursive: true, force: true }))
  const load = kept(startWorker('load/requestsProcess.js'))
  const benchOn = server => ({
    folder,
    server,
    load,
    startGateway: async (database, env) => kept(await startGateway(database, env)),
    startCustomers: () => kept(startWorker('load/customersProcess.js')),
    startPayProvider: async () => kept(await startPayProvider()),
  })
  const plan = sharded(
    [
      { id: 'one', label: 'one PostgreSQL', bench: benchOn(one) },
      { id: 'citus', label: 'Citus', bench: benchOn(citus) },
    ],
    lengths[size],
  )
  const progress = createProgress(plan.reduce((total, section) => total + lengthOfSection(section), 0))
  const sections = []
  for (const section of plan) {
    const done = await runSection(section, progress)
    progress.clear()
    console.log(sectionText(done))
    sections.push(done)
  }
  console.log(footnotes(sections, 'whole'))
}

let ending // a signal may come while everything is stopped
const end = code => (ending ??= stopAll().then(() => process.exit(code)))

async function stopAll() {
  while (closers.length > 0) await closers.pop()()
}

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void end(130))
try {
  await main(process.argv.includes('--quick') ? 'quick' : 'whole')
  await end(0)
} catch (error) {
  // What Citus needs and this machine lacks is a sentence.
  console.error(error.constructor.name === 'UnavailableError' ? error.message : error.stack)
  await end(1)
}
