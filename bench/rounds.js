// Contenders take turns in every round, so that whatever the machine does meanwhile happens to all of them.
import { median, spread } from './figures.js'

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
      if (figures.requests === 0) throw new Error('Not one request was answered while the clock ran.')
      measured[at].push(figures)
      progress.step(lengthOf(contender, job))
    }
  }
  const rows = contenders.map((contender, at) => rowOf(contender, measured[at]))
  return {
    title: section.title,
    about: section.about,
    rows,
    ratios: section.ratios.map(ratio => ({ ...ratio, ...compare(rows, ratio) })),
    ...section.facts?.(),
  }
}

function lengthOf({ own }, job) {
  const { warmMs, measureMs } = { ...job, ...own }
  return warmMs + measureMs
}

export const lengthOfSection = ({ contenders, rounds, job }) =>
  rounds * contenders.reduce((sum, contender) => sum + lengthOf(contender, job), 0)

// Who begins changes from round to round, and every other round runs backwards: nobody always follows the same.
function turns(count, round) {
  const order = Array.from({ length: count }, (_, turn) => (turn + round) % count)
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
  return {
    id,
    label,
    connections,
    rate: middle(round => round.rate),
    p50: middle(round => round.p50),
    p99: middle(round => round.p99),
    cpuUs,
    rounds,
  }
}

// Round by round, then the middle of those: never a ratio of figures from different moments.
function compare(rows, { of, to, by }) {
  const [above, below] = [of, to].map(id => rows.find(row => row.id === id).rounds)
  return spread(above.map((round, at) => round[by] / below[at][by]))
}
