// Contenders take turns in every round, so that whatever the machine does meanwhile happens to all of them.
import { setTimeout as sleep } from 'node:timers/promises'
import { Starved } from './load/starved.js'
import { median, spread } from './report/figures.js'

const repeats = 2 // of a turn for which the machine had no time
const longer = 3 // times as long as the try before, when not one was answered
const restMs = 5000 // before a repeat: what was under way ends, and is not counted in it
const longestReason = 160

// Returns the figures of a section. If the machine was too busy for even one complete round, it returns the reason.
export async function runSection(section, progress) {
  try {
    return await measureSection(section, progress)
  } catch (error) {
    if (error instanceof Starved) return { title: section.title, notMeasured: reasonOf(error) }
    throw error
  }
}

async function measureSection(section, progress) {
  const { contenders, rounds, job, warmUpMs = 0 } = section
  const repeated = []
  progress.say(`${section.title}: preparing`)
  await section.prepare?.()
  for (const contender of warmUpMs > 0 ? oncePerGateway(contenders) : []) {
    progress.say(`${section.title}: warming up`)
    await takeTurn(contender, { ...job, ...contender.own, measureMs: warmUpMs }, repeated)
  }
  const measured = []
  for (let round = 0; round < rounds; round++) {
    const figures = Array(contenders.length)
    for (const at of turns(contenders.length, round)) {
      progress.say(`${section.title}: round ${round + 1} of ${rounds}`)
      const contender = contenders[at]
      figures[at] = await takeTurn(contender, { ...job, ...contender.own }, repeated)
      progress.step(job.warmMs + job.measureMs)
    }
    if (figures.every(Boolean)) measured.push(figures)
  }
  if (measured.length === 0) throw new Starved(repeated.at(-1))
  const rows = contenders.map((contender, at) =>
    rowOf(
      contender,
      measured.map(figures => figures[at]),
    ),
  )
  const { notes = [], ...facts } = section.facts?.() ?? {}
  return {
    title: section.title,
    about: section.about,
    table: section.table,
    rows,
    ratios: section.ratios.map(ratio => ({ ...ratio, ...compare(rows, ratio) })),
    limits: (section.limits ?? []).map(limit => ({ ...limit, ...spreadOf(rows, limit) })),
    notes: [...notes, ...notesOf(repeated, rounds - measured.length)],
    ...facts,
  }
}

// Undefined when the machine had no time for any of the tries. Why each failed is added to `repeated`.
async function takeTurn(contender, job, repeated) {
  let { measureMs } = job
  for (let left = repeats; ; left--) {
    try {
      const figures = await contender.run({ ...job, measureMs })
      if (figures.requests > 0) return figures
      measureMs *= longer
      throw new Starved('not one was answered in time')
    } catch (error) {
      if (!(error instanceof Starved)) throw error
      repeated.push(`${contender.label}: ${reasonOf(error)}`)
      if (left === 0) return undefined
      await sleep(restMs)
    }
  }
}

const reasonOf = ({ message }) => message.replace(/\s+/g, ' ').slice(0, longestReason)

const notesOf = (repeated, incomplete) => [
  ...repeated.map(reason => `Repeated: ${reason}`),
  ...(incomplete > 0 ? [`Left out: ${incomplete} of the rounds, in which a repeat failed too.`] : []),
]

// A section may know its contenders only when it is prepared.
export const lengthOfSection = ({ contenders, count = contenders.length, rounds, job }) =>
  rounds * count * (job.warmMs + job.measureMs)

// Every second round runs in reverse order, and then another contender begins: none always follows the same one, or comes first
// more often than others.
function turns(count, round) {
  const order = Array.from({ length: count }, (_, turn) => (turn + Math.floor(round / 2)) % count)
  return round % 2 === 0 ? order : order.toReversed()
}

// A new process is slow until its code is compiled.
const oncePerGateway = contenders => [
  ...new Map(contenders.filter(({ gateway }) => gateway).map(each => [each.gateway, each])).values(),
]

function rowOf({ id, label, connections }, rounds) {
  const middle = read => median(rounds.map(read))
  const cpuUs = Object.fromEntries(
    Object.keys(rounds[0].cpuUs).map(name => [name, middle(round => round.cpuUs[name])]),
  )
  const names = Object.keys(rounds[0]).filter(name => typeof rounds[0][name] === 'number')
  const figures = Object.fromEntries(names.map(name => [name, middle(round => round[name])]))
  return { id, label, connections, ...figures, cpuUs, rounds }
}

const roundsOf = (rows, id) => rows.find(row => row.id === id).rounds

// Round by round, then the middle of those: never a ratio of figures from different moments. Against several it is
// the largest of theirs that counts.
function compare(rows, { of, to, by }) {
  const below = [to].flat().map(id => roundsOf(rows, id))
  return spread(
    roundsOf(rows, of).map((round, at) => round[by] / Math.max(...below.map(other => other[at][by]))),
  )
}

const spreadOf = (rows, { of, by }) => spread(roundsOf(rows, of).map(round => round[by]))
