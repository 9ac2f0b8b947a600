// What the sections with peers have in common.
import { lacks, systems } from './systems.js'

export const endpoints = 64
export const few = 16 // of which one hangs
export const perSecond = 100
export const warmMs = 1000

export const ok = count => Array(count).fill('ok')
export const evenly = (pace, forMs, count) =>
  Array.from({ length: Math.floor((pace * forMs) / 1000) }, (_, at) => ({
    endpoint: at % count,
    n: Math.floor(at / count),
    atMs: (at * 1000) / pace,
  }))

// Their receivers, their turns, and ours against each of the others.
/** @typedef {{ sign?: string, words?: string, burst?: number }} Way */
/** @typedef {{ title: string, table: string, about: string[], rounds: number, measureMs: number, kinds: string[],
 *   turn: (place: any) => Promise<any>, ways?: Way[], compared?: { by: string, words: string }[] }} PeerSection */

/** @type {(bench: any, how: PeerSection) => any} */
export function section(
  bench,
  { title, table, about, rounds, measureMs, kinds, turn, ways = [{}], compared = [] },
) {
  const place = {}
  const refusals = new Map() // the first words of each
  const all = systems(bench)
  const contenders = all.flatMap(system =>
    ways.map(way => ({
      id: system.id + (way.sign ?? ''),
      label: `${system.label}${way.words ?? ''}`,
      async run(job) {
        await place.receiver.forget()
        const { refusal, ...figures } = await turn({ ...place, system, way, measureMs: job.measureMs })
        if (refusal) refusals.set(`${system.label}${way.words ?? ''}`, refusal)
        return figures
      },
    })),
  )
  const rivals = all.slice(1)
  return {
    title: `Peers: ${title}`,
    table,
    about: [...about, ...lacks()],
    rounds,
    job: { warmMs: 0, measureMs },
    contenders,
    ratios: rivals.flatMap(({ id, label }) =>
      compared.flatMap(({ by, words }) =>
        ways.map(({ sign = '', words: which = '' }) => ({
          name: `ours/${label}${which}, ${words}`,
          of: `ours${sign}`,
          to: id + sign,
          by,
        })),
      ),
    ),
    facts: () => ({
      notes: [...refusals].map(([label, words]) => `${label} refused: ${words.slice(0, 200)}`),
    }),
    async prepare() {
      await bench.stopGateways()
      place.receiver = bench.startReceiver()
      place.ports = await place.receiver.open(kinds)
      if (kinds.length === few) [place.ports[0]] = await bench.startReceiver().open(['hanging'])
    },
  }
}

export const rateAndCpu = [
  { by: 'rate', words: 'rate' },
  { by: 'cpu', words: 'CPU' },
]
