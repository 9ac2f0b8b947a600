// npm run bench: rates side by side, measured in one run. A missed target is told and is no failure: timings
// depend on the machine. `--quick` for every day, `--json FILE` for all figures, `--no-pgbench` for a plain
// client loop as (a), `--only WORDS` for the sections that have these words in their title.
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { crowded, versus } from './plan.js'
import { checkout } from './planCheckout.js'
import { delivery } from './planDelivery.js'
import { createProgress } from './progress.js'
import { footnotes, header, sectionText, targetsText } from './report.js'
import { lengthOfSection, runSection } from './rounds.js'
import { cleanUp, setUp } from './setup.js'
import { limitTargets, memoryTargets, ratioTargets, weightTargets } from './targets.js'

const longestMs = 25 * 60_000

async function main({ quick = false, json, only = '', 'no-pgbench': noPgbench }) {
  const bench = await setUp(noPgbench)
  console.log(header(bench.machine, quick))
  const plan = (await planFor(bench, quick, only)).filter(({ title }) => isAbout(title, only))
  if (plan.length === 0) throw new Error(`No section has "${only}" in its title.`)
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

// Deliveries come last, as they stop all gateways; the other sections start theirs beforehand.
async function planFor(bench, quick, only) {
  const deliveries = delivery(bench, quick)
  if (/^deliver/i.test(only)) return deliveries
  const plan = [...(await versus(bench, quick)), ...(await checkout(bench, quick))]
  return [...plan, ...(quick ? [] : await crowded(bench)), ...deliveries]
}

const isAbout = (title, words) => title.toLowerCase().includes(words.toLowerCase())

async function giveUp(why) {
  console.error(`\n${why}`)
  await cleanUp()
  process.exit(1)
}

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void giveUp('Stopped.'))
process.once('uncaughtException', error => void giveUp(error.stack))
setTimeout(() => void giveUp(`Not finished after ${longestMs / 60_000} minutes.`), longestMs).unref()

try {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean' },
      json: { type: 'string' },
      only: { type: 'string' },
      'no-pgbench': { type: 'boolean' },
    },
  })
  await main(values)
  await cleanUp()
} catch (error) {
  await giveUp(error.stack)
}
