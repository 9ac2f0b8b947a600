// A real installation under load and faults, and a checker that reads everything: npm run torture.
import { randomInt } from 'node:crypto'
import { painter } from '../../src/cli/terminal.ts'
import { UnavailableError } from '../cluster/kind.ts'
import { createRandom } from '../support/random.ts'
import type { Violation } from './checker.ts'
import { openCitus, openOneServer, openPatroni } from './database.ts'
import { readEvidence } from './evidence.ts'
import type { Fault } from './faults/fault.ts'
import { faults, sortOut } from './faults/list.ts'
import { type Installation, openInstallation } from './installation.ts'
import { startLoad } from './load.ts'
import { faultTable, timesTable, verdict, violationText } from './report.ts'
import { type Measured, runRound } from './rounds.ts'

const manual = `npm run torture                          rounds of every fault, for 15 minutes
npm run torture -- --minutes 60          for longer
npm run torture -- --seed 123            the same faults at the same moments as in an earlier round
npm run torture -- --fault kill          only the faults whose names contain this
npm run torture -- --short               short faults, one round of each
npm run torture -- --database patroni    on a primary and its standby, with failovers
npm run torture -- --database citus      on a Citus coordinator and two workers

${faults.map(({ name }) => `  ${name}`).join('\n')}`

const databases = {
  one: () => openOneServer({ forAllFaults: true }),
  patroni: () => openPatroni(console.error),
  citus: () => openCitus(console.error),
}
const isDatabase = (name = ''): name is keyof typeof databases => Object.hasOwn(databases, name)

type Options = {
  minutes: number
  seed: number | undefined
  only: string
  isShort: boolean
  database: keyof typeof databases
}

function readOptions(args: string[]): Options | undefined {
  const options: Options = { minutes: 15, seed: undefined, only: '', isShort: false, database: 'one' }
  for (let at = 0; at < args.length; at++) {
    if (args[at] === '--short') options.isShort = true
    else if (args[at] === '--database') {
      const name = args[++at]
      if (!isDatabase(name)) return undefined
      options.database = name
    } else if (args[at] === '--minutes') options.minutes = Number(args[++at])
    else if (args[at] === '--seed') options.seed = Number(args[++at])
    else if (args[at] === '--fault') options.only = args[++at] ?? ''
    else return undefined
  }
  return Number.isFinite(options.minutes) && !Number.isNaN(options.seed ?? 0) ? options : undefined
}

// Returns the exit code.
export async function main(args: string[]): Promise<number> {
  const options = readOptions(args)
  if (!options) {
    console.error(manual)
    return args.includes('--help') ? 0 : 2
  }
  const interrupted = new AbortController()
  const over = new Promise<never>((_, reject) =>
    interrupted.signal.addEventListener('abort', () => reject(new Interrupted())),
  )
  over.catch(() => {})
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interrupted.abort())
  const database = await databases[options.database]().catch((error: unknown) => {
    if (!(error instanceof UnavailableError)) throw error
    console.error(`SKIPPED: ${error.message}`)
  })
  if (!database) return 1
  const installation = await openInstallation(database, { hasLinks: true })
  try {
    return await Promise.race([torture(installation, options, interrupted.signal), over])
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error
    return 130
  } finally {
    await installation.stop()
  }
}

class Interrupted extends Error {}

async function torture(installation: Installation, options: Options, stopped: AbortSignal): Promise<number> {
  const paint = painter(process.stderr)
  const started = performance.now()
  const minutes = () => (performance.now() - started) / 60_000
  const say = (text: string) => console.error(`${paint('dim', clock(performance.now() - started))} ${text}`)
  say(`${installation.nodes.length} nodes on ${installation.database.what}`)
  const wanted = faults.filter(({ name }) => name.includes(options.only))
  const { possible, skipped } = sortOut(wanted, installation)
  for (const { fault, needs } of skipped) say(`SKIPPED: ${fault.name} needs ${needs}`)
  if (possible.length === 0) return 1

  const load = startLoad(installation, options.seed ?? randomInt(2 ** 31))
  const rounds = new Map<string, number>()
  const measured: Measured[] = []
  const found: Violation[] = []
  let next: Fault[] = []
  while (options.isShort ? rounds.size < possible.length : minutes() < options.minutes) {
    if (stopped.aborted) return 130
    const seed = options.seed ?? randomInt(2 ** 31)
    if (next.length === 0) next = shuffled(possible, options.seed ?? seed)
    const fault = next.shift() as Fault
    say(`round ${[...rounds.values()].reduce((sum, n) => sum + n, 1)}, --seed ${seed}`)
    rounds.set(fault.name, (rounds.get(fault.name) ?? 0) + 1)
    const plan = { seed, faults: [fault], isLong: !options.isShort }
    const wrong = await runRound(installation, load, plan, say, measured)
    if (wrong.length > 0) {
      console.error(
        `${paint('red', `${wrong.length} violations`)} after ${fault.name}, --seed ${seed} --fault "${fault.name}"`,
      )
      console.error(violationText(wrong))
      found.push(...wrong)
      break // what follows would find the same again
    }
  }
  const totals = { evidence: await readEvidence(installation, load), load, rounds, measured }
  console.log(`\n${faultTable(totals)}\n\n${timesTable(totals)}\n`)
  for (const { fault, needs } of skipped) console.log(`SKIPPED: ${fault.name} needs ${needs}`)
  console.log(`${minutes().toFixed(1)} minutes, ${load.sent.length} requests: ${verdict(found)}`)
  return found.length > 0 ? 1 : 0
}

function shuffled(all: readonly Fault[], seed: number): Fault[] {
  const { random } = createRandom(seed)
  return all
    .map(fault => ({ fault, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ fault }) => fault)
}

const clock = (ms: number) =>
  `${String(Math.floor(ms / 60_000)).padStart(2, '0')}:${String(Math.floor(ms / 1000) % 60).padStart(2, '0')}`
