import { expect, test } from 'vitest'
import { missingIn, unknownIn } from '../../src/core/fitDatabase.ts'

const known = { former: ['01', '02', '03'], tables: ['tables/1', 'tables/2'], changes: ['04', '05'] }

for (const [what, applied, missing] of [
  ['an empty one', [], ['tables/1', 'tables/2', '04', '05']],
  ['one of this version, cut off', ['tables/1'], ['tables/2', '04', '05']],
  ['one of this version', ['tables/1', 'tables/2', '04', '05'], []],
  ['one with all of the former steps', ['01', '02', '03'], ['04', '05']],
  ['the same with a change since', ['01', '02', '03', '04'], ['05']],
  ['one with some of the former steps', ['01', '02'], ['03', '04', '05']],
  ['one that both have begun', ['01', 'tables/1'], ['02', '03', '04', '05']],
] as const)
  test(`a database, ${what}: not newer than this version, and missing ${missing.join(', ') || 'nothing'}`, () => {
    expect(missingIn({ applied }, known)).toEqual(missing)
    expect(unknownIn({ applied }, known)).toEqual([])
  })

for (const applied of [
  ['01', '02', '03', '06'],
  ['tables/1', '06'],
])
  test(`${applied.join(', ')}: newer than this version`, () =>
    expect(unknownIn({ applied }, known)).toEqual(['06']))
