// npm run bench: rates side by side, measured in one run. A missed target is told and is no failure: timings
// depend on the machine. `--quick` for every day, `--json FILE` for all figures, `--no-pgbench` for a plain
// client loop as (a).
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { crowded, versus } from './plan.js'
import { createProgress } from './progress.js'
import { footnotes, header, sectionText, targetsText } from './report.js'
import { runSection } from './rounds.js'
import { cleanUp, setUp } from './setup.js'
import { memoryTarget, ratioTargets } from './targets.js'

const longestMs = 15 * 60_000

async function main({ quick = false, json, 'no-pgbench': noPgbench }) {
  const bench = await setUp(noPgbench)
  console.log(header(bench.machine, quick))
  const plan = await versus(bench, quick)
  if (!quick) plan.push(...(await crowded(bench)))
  const progress = createProgress(plan.reduce((sum, section) => sum + lengthOf(section), 0))
  const sections = []
  for (const section of plan) {
    const done = await runSection(section, progress)
    progress.clear()
    console.log(sectionText(done))
    sections.push(done)
  }
  const targets = [...sections.flatMap(ratioTargets), memoryTarget(bench.shipped)]
  console.log(`${targetsText(targets)}\n${footnotes(sections, quick)}`)
  const figures = { machine: bench.machine, quick, sections, targets }
  if (json) writeFileSync(json, `${JSON.stringify(figures, undefined, 2)}\n`)
}

const lengthOf = ({ contenders, rounds, job }) => contenders.length * rounds * (job.warmMs + job.measureMs)

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
      'no-pgbench': { type: 'boolean' },
    },
  })
  await main(values)
  await cleanUp()
} catch (error) {
  await giveUp(error.stack)
}
