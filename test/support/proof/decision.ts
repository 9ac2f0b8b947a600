// Which files of a failed proof run once more. A proof has deadlines, so a machine whose time went to others can fail it
// although the program is right. A file that fails alone as well is wrong.

// What the machine and others on it have used since it started.
export type Sample = { at: number; allMs: number; othersMs: number }
export type FileRun = { file: string; failed: boolean; from: number; until: number }
export type FailedFile = { file: string; share: number | undefined } // of the machine that others had, from 0 to 1
export type Repeated = FailedFile & { passed: boolean }

export const starvedShare = 0.3
const mostAgain = 8 // more failures than this are not the machine's

// The part of the machine's time that others had between two moments. Undefined if it was not measured.
export function othersShare(samples: readonly Sample[], from: number, until: number): number | undefined {
  const first = samples.findLast(({ at }) => at <= from) ?? samples[0]
  const last = samples.find(({ at }) => at >= until) ?? samples.at(-1)
  if (!first || !last || last.allMs <= first.allMs) return undefined
  return Math.max(0, last.othersMs - first.othersMs) / (last.allMs - first.allMs)
}

// `again` run once more, each alone; `wrong` have failed for good.
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
