import { BaseSequencer, type TestSpecification } from 'vitest/node'

// Vitest starts large files first, unless it knows how long they took. A short file that takes minutes would run at the
// end, while the other workers have nothing to do.
const longest = [
  'test/proof/bench.test.ts',
  'test/proof/torture.test.ts',
  'test/proof/providersKilled.test.ts',
  'test/proof/deliveriesKilled.test.ts',
  'test/proof/idle.test.ts',
]

const isLongest = ({ moduleId }: TestSpecification) => longest.some(file => moduleId.endsWith(file))

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]) {
    const sorted = await super.sort(files)
    return [...sorted.filter(isLongest), ...sorted.filter(file => !isLongest(file))]
  }
}
