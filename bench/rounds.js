// Contenders take turns in every round, so that whatever the machine does meanwhile happens to all of them.
import { median, spread } from './report/figures.js'

export async function runSection(section, progress) {
  const { contenders, rounds, job, warmUpMs = 0 } = section
  progress.say(`${section.title}: preparing`)
  await section.prepare?.()
  for (const contender of warmUpMs > 0 ? oncePerGateway(contenders) : []) {
    progress.say(`${section.title}: warming up`)
    await contender.run({ ...job, ...contender.own, measureMs: warmUpMs })
  }
  const measured = contenders.map(() => [])
  for (let round = 0; round < rounds; round++) {
    for (const at of turns(contenders.length, round)) {
      progress.say(`${section.title}: round ${round + 1} of ${rounds}`)
      const contender = contenders[at]
      const figures = await contender.run({ ...job, ...contender.own })
      if (figures.requests === 0) throw new Error(`${contender.label}: not one was answered in time.`)
      measured[at].push(figures)
      progress.step(job.warmMs + job.measureMs)
    }
  }
  const rows = contenders.map((contender, at) => rowOf(contender, measured[at]))
  return {
    title: section.title,
    about: section.about,
    table: section.table,
    rows,
    ratios: section.ratios.map(ratio => ({ ...ratio, ...compare(rows, ratio) })),
    limits: (section.limits ?? []).map(limit => ({ ...limit, ...spreadOf(rows, limit) })),
    ...section.facts?.(),
  }
}

// A section may know its contenders only when it is prepared.
export const lengthOfSection = ({ contenders, count = contenders.length, rounds, job }) =>
  rounds * count * (job.warmMs + job.measureMs)

// Every other round runs backwards, and then somebody else begins: nobody always follows the same, nor comes first
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
