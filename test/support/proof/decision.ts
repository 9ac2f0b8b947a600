// Decides which files of a failed proof run once more. A proof has deadlines, so it can fail because other processes used
// the CPU, although the program is right. A file that also fails alone is wrong.

// CPU time since the machine started: of the whole machine, and of processes that are not part of the proof. A sample is
// taken every second, later only if the machine had no time even for that.
export type Sample = { at: number; allMs: number; othersMs: number }
export type FileRun = { file: string; failed: boolean; from: number; until: number }
export type FailedFile = { file: string; share: number | undefined } // of CPU time in its worst moment, from 0 to 1
export type Repeated = FailedFile & { passed: boolean }

export const starvedShare = 0.3
const momentMs = 10_000 // a deadline is missed in a moment, however quiet the rest of a long file was
const stallMs = 3000 // longer without a sample than this: the machine stood still
const mostAgain = 8 // more failures than this are not caused by a busy machine

// The share of CPU time that other processes used between two moments. Undefined if it was not measured.
export function othersShare(samples: readonly Sample[], from: number, until: number): number | undefined {
  const first = samples.findLast(({ at }) => at <= from) ?? samples[0]
  const last = samples.find(({ at }) => at >= until) ?? samples.at(-1)
  if (!first || !last || last.allMs <= first.allMs) return undefined
  return Math.max(0, last.othersMs - first.othersMs) / (last.allMs - first.allMs)
}

// The largest share of others in any ten seconds of a file. A pause in which the machine itself stood still counts as
// theirs, because the hypervisor does not always count it as stolen.
export function worstShare(samples: readonly Sample[], from: number, until: number): number | undefined {
  const during = samples.filter(({ at }) => at >= from - 1000 && at <= until + 1000)
  if (during.some(({ at }, n) => at - (during[n - 1]?.at ?? at) > stallMs)) return 1
  const starts = [from, ...during.map(({ at }) => at)].filter(at => at <= Math.max(from, until - momentMs))
  const shares = starts.map(at => othersShare(samples, at, Math.min(at + momentMs, until)))
  return shares.reduce((most, share) => (share === undefined ? most : Math.max(most ?? 0, share)), undefined)
}

// The files in `again` run once more, each alone; those in `wrong` have failed for good.
export function decide(runs: readonly FileRun[], samples: readonly Sample[]) {
  const failed: FailedFile[] = runs
    .filter(run => run.failed)
    .map(({ file, from, until }) => ({ file, share: worstShare(samples, from, until) }))
  const again = failed.filter(isStarved)
  if (again.length > mostAgain) return { again: [], wrong: failed }
  return { again, wrong: failed.filter(each => !isStarved(each)) }
}

const isStarved = ({ share }: FailedFile) => share !== undefined && share > starvedShare

// The last lines of a run in which something failed.
export const closingLines = (wrong: readonly FailedFile[], repeated: readonly Repeated[]): string[] => [
  ...(repeated.length > 0
    ? [`Run once more alone, because others had over ${starvedShare * 100} % of the machine for ten seconds:`]
    : []),
  ...repeated.map(each => `  ${each.file} (${percent(each)}): ${each.passed ? 'passed' : 'failed again'}`),
  ...(wrong.length > 0 ? ['Failed:'] : []),
  ...wrong.map(each => `  ${each.file} (others had ${percent(each)})`),
]

const percent = ({ share }: FailedFile) =>
  share === undefined ? 'an unknown share' : `${Math.round(share * 100)} %`
