// npm run bench: rates side by side, measured in one run. A missed target is told and is no failure: timings
// depend on the machine. `--quick` for every day, `--json FILE` for all figures, `--no-pgbench` for a plain
// client loop as (a), `--only WORDS` for the sections that have these words in their title, `--beside DIR` for another
// checkout of Tollgate that is measured beside this one.
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { crowded, versus } from './plans/requests.js'
import { besideFormer } from './plans/beside.js'
import { checkout } from './plans/checkout.js'
import { delivery } from './plans/delivery.js'
import { peers } from './plans/peers.js'
import { trouble } from './plans/trouble.js'
import { createProgress } from './report/progress.js'
import { footnotes, header, sectionText, targetsText } from './report/text.js'
import { lengthOfSection, runSection } from './rounds.js'
import { cleanUp, setUp } from './setup.js'
import { limitTargets, memoryTargets, ratioTargets, weightTargets } from './report/targets.js'
import { bringRivals } from './packages.js'
import { NoVersion, otherVersion } from './version.js'

const longestMinutes = { alone: 40, beside: 55 }

/** @typedef {{ quick?: boolean, json?: string, only?: string, beside?: string, 'no-pgbench'?: boolean }} Options */

/** @param {Options} options */
async function main({ quick = false, json, only = '', beside, 'no-pgbench': noPgbench }) {
  const bench = await setUp(noPgbench, beside === undefined ? undefined : otherVersion(beside))
  console.log(header(bench.machine, quick))
  const plan = planFor(bench, quick, only).filter(({ title }) => isAbout(title, only))
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
  const targets = [
    ...sections.flatMap(ratioTargets),
    ...sections.flatMap(weightTargets),
    ...sections.flatMap(limitTargets),
    ...memoryTargets(bench.shipped),
  ]
  console.log(`${targetsText(targets)}\n${footnotes(sections, quick)}`)
  const figures = { machine: bench.machine, quick, sections, targets }
  if (json) writeFileSync(json, `${JSON.stringify(figures, undefined, 2)}\n`)
}

// Nothing starts before its section does. From those beside another version on, each stops all gateways before it.
/** @type {(bench: any, quick: boolean, only: string) => any[]} */
const planFor = (bench, quick, only) => [
  ...versus(bench, quick),
  ...checkout(bench, quick),
  ...(quick ? [] : crowded(bench)),
  ...(bench.former ? besideFormer(bench, quick) : []),
  ...delivery(bench, quick),
  ...trouble(bench, quick),
  ...(/^peers/i.test(only) ? peers(bench, quick) : []), // they need programs that few have, and their time
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
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean' },
      json: { type: 'string' },
      only: { type: 'string' },
      beside: { type: 'string' },
      'no-pgbench': { type: 'boolean' },
    },
  })
  limitTo(longestMinutes[values.beside ? 'beside' : 'alone'])
  await main(values)
  await cleanUp()
} catch (error) {
  await giveUp(error instanceof NoVersion ? error.message : error.stack)
}
