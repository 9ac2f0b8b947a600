// Rates side by side, measured in one run. A missed target is reported and is no failure: timings depend on the machine.
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { crowded, versus } from './plans/requests.js'
import { besideFormer } from './plans/beside.js'
import { checkout } from './plans/checkout.js'
import { growingTables } from './plans/growingTables.js'
import { delivery } from './plans/delivery.js'
import { peers } from './plans/peers.js'
import { severalProcesses } from './plans/processes.js'
import { trouble } from './plans/trouble.js'
import { createProgress } from './report/progress.js'
import { footnotes, header, isMeasured, sectionText, targetsText } from './report/text.js'
import { lengthOfSection, runSection } from './rounds.js'
import { cleanUp, setUp } from './setup.js'
import { limitTargets, memoryTargets, ratioTargets, weightTargets } from './report/targets.js'
import { bringRivals } from './packages.js'
import { NoVersion, otherVersion } from './version.js'

const longestMinutes = { alone: 40, beside: 55, growth: 240 }
const growthSteps = '10000,100000,1000000,5000000'

/** @typedef {'whole' | 'quick' | 'smallest'} Size */
/** @typedef {{ quick?: boolean, smallest?: boolean, json?: string, only?: string, beside?: string, 'no-pgbench'?: boolean,
 *   'cpu-prof'?: string, growth?: boolean, steps?: string }} Options */

const manual = `npm run bench                          every section, for up to 40 minutes
npm run bench -- --quick               fewer and shorter rounds
npm run bench -- --smallest            every section with tiny counts, to see that it runs
npm run bench -- --only WORDS          the sections that have these words in their title
npm run bench -- --beside DIR          beside another checkout of Tollgate, for up to 55 minutes
npm run bench -- --growth              one merchant with 10,000 to 5,000,000 payments
    --steps 10000,100000               with other numbers of payments
npm run bench -- --json FILE           also writes all figures of all rounds to a file
npm run bench -- --no-pgbench          statements straight into PostgreSQL by a client loop instead of pgbench
npm run bench -- --cpu-prof DIR        also writes CPU profiles of the gateways to a folder

bench/README.md explains the figures.`

/** @param {Options} options */
async function main({ quick, smallest, json, only = '', beside, ...more }) {
  const size = smallest ? 'smallest' : quick ? 'quick' : 'whole'
  const bench = await setUp({
    noPgbench: more['no-pgbench'],
    former: beside === undefined ? undefined : otherVersion(beside),
    profiles: more['cpu-prof'],
  })
  console.log(header(bench.machine, size))
  const sectionsOf = more.growth ? growthOnly(bench, more.steps) : planFor(bench, size, only)
  const plan = sectionsOf.filter(({ title }) => isAbout(title, only))
  if (plan.length === 0) throw new Error(`No section has "${only}" in its title.`)
  if (plan.some(section => section.hasRivals)) bringRivals()
  const progress = createProgress(plan.reduce((sum, section) => sum + lengthOfSection(section), 0))
  const sections = []
  for (const section of plan) {
    const done = await runSection(section, progress)
    progress.clear()
    console.log(sectionText(done))
    sections.push(done)
  }
  const measured = sections.filter(isMeasured)
  const targets = [
    ...measured.flatMap(ratioTargets),
    ...measured.flatMap(weightTargets),
    ...measured.flatMap(limitTargets),
    ...memoryTargets(bench.shipped),
  ]
  console.log(`${targetsText(targets)}\n${footnotes(sections, size)}`)
  const figures = { machine: bench.machine, size, sections, targets }
  if (json) writeFileSync(json, `${JSON.stringify(figures, undefined, 2)}\n`)
}

const growthOnly = (bench, steps = growthSteps) => [
  growingTables(bench, { steps: steps.split(',').map(Number), warmMs: 1000, measureMs: 3000 }),
]

// Nothing starts before its section does. From those beside another version on, each stops all gateways before it.
/** @type {(bench: any, size: Size, only: string) => any[]} */
const planFor = (bench, size, only) => [
  ...versus(bench, size),
  ...checkout(bench, size),
  ...crowded(bench, size),
  ...severalProcesses(bench, size),
  ...(bench.former ? besideFormer(bench, size) : []),
  ...delivery(bench, size),
  ...trouble(bench, size),
  ...(size === 'smallest'
    ? [growingTables(bench, { steps: [1500, 3000], warmMs: 100, measureMs: 300 })]
    : []),
  // They need programs that few have, and their time.
  ...(size === 'smallest' || /^peers/i.test(only) ? peers(bench, size) : []),
]

const isAbout = (title, words) => title.toLowerCase().includes(words.toLowerCase())

async function giveUp(why) {
  console.error(`\n${why}`)
  await cleanUp()
  process.exit(1)
}

function limitTo(minutes) {
  setTimeout(() => void giveUp(`Not finished after ${minutes} minutes.`), minutes * 60_000).unref()
}

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void giveUp('Stopped.'))
process.once('uncaughtException', error => void giveUp(error.stack))

try {
  const { help, ...values } = parseArgs({
    options: {
      help: { type: 'boolean' },
      quick: { type: 'boolean' },
      smallest: { type: 'boolean' },
      json: { type: 'string' },
      only: { type: 'string' },
      beside: { type: 'string' },
      'no-pgbench': { type: 'boolean' },
      'cpu-prof': { type: 'string' },
      growth: { type: 'boolean' },
      steps: { type: 'string' },
    },
  }).values
  if (help) {
    console.log(manual)
    process.exit()
  }
  limitTo(longestMinutes[values.growth ? 'growth' : values.beside ? 'beside' : 'alone'])
  await main(values)
  await cleanUp()
} catch (error) {
  const isUsage = error.code?.startsWith('ERR_PARSE_ARGS')
  await giveUp(
    isUsage ? `${error.message}\n\n${manual}` : error instanceof NoVersion ? error.message : error.stack,
  )
}
