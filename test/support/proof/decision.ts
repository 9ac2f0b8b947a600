// Decides which files of a failed proof run once more. A proof has deadlines, so it can fail because other processes used
// the CPU, although the program is right. A file that also fails alone is wrong.

// CPU time since the machine started: of the whole machine, and of processes that are not part of the proof.
export type Sample = { at: number; allMs: number; othersMs: number }
export type FileRun = { file: string; failed: boolean; from: number; until: number }
export type FailedFile = { file: string; share: number | undefined } // of CPU time used by other processes, from 0 to 1
export type Repeated = FailedFile & { passed: boolean }

export const starvedShare = 0.3
const mostAgain = 8 // more failures than this are not caused by a busy machine

// The share of CPU time that other processes used between two moments. Undefined if it was not measured.
export function othersShare(samples: readonly Sample[], from: number, until: number): number | undefined {
  const first = samples.findLast(({ at }) => at <= from) ?? samples[0]
  const last = samples.find(({ at }) => at >= until) ?? samples.at(-1)
  if (!first || !last || last.allMs <= first.allMs) return undefined
  return Math.max(0, last.othersMs - first.othersMs) / (last.allMs - first.allMs)
}

// The files in `again` run once more, each alone; those in `wrong` have failed for good.
export function decide(runs: readonly FileRun[], samples: readonly Sample[]) {
  const failed: FailedFile[] = runs
    .filter(run => run.failed)
    .map(({ file, from, until }) => ({ file, share: othersShare(samples, from, until) }))
  const again = failed.filter(isStarved)
  if (again.length > mostAgain) return { again: [], wrong: failed }
  return { again, wrong: failed.filter(each => !isStarved(each)) }
}

const isStarved = ({ share }: FailedFile) => share !== undefined && share > starvedShare

// The last lines of a run in which something failed.
export const closingLines = (wrong: readonly FailedFile[], repeated: readonly Repeated[]): string[] => [
  ...(repeated.length > 0
    ? [`Run once more alone, because others had over ${starvedShare * 100} % of the machine meanwhile:`]
    : []),
  ...repeated.map(each => `  ${each.file} (${percent(each)}): ${each.passed ? 'passed' : 'failed again'}`),
  ...(wrong.length > 0 ? ['Failed:'] : []),
  ...wrong.map(each => `  ${each.file} (others had ${percent(each)})`),
]

const percent = ({ share }: FailedFile) =>
  share === undefined ? 'an unknown share' : `${Math.round(share * 100)} %`
