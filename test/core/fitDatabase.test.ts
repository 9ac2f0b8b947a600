import { expect, test } from 'vitest'
import { missingIn, unknownIn, whyNotStartOn, whyNotStore } from '../../src/core/fitDatabase.ts'

const known = ['0001_a.sql', '0002_b.sql', '0003_c.sql']
const applied = (...names: string[]) => names.map(name => ({ name, compatible: false, served: false }))

for (const [what, names, missing] of [
  ['an empty one', [], known],
  ['one whose migration was interrupted', ['0001_a.sql'], ['0002_b.sql', '0003_c.sql']],
  ['one of this release', known, []],
  ['one of a later release', [...known, '0004_d.sql'], []],
] as const)
  test(`a database, ${what}, misses ${missing.join(', ') || 'nothing'}`, () =>
    expect(missingIn({ applied: applied(...names) }, known)).toEqual(missing))

test('unknown migrations are those of later releases', () => {
  expect(unknownIn({ applied: applied(...known) }, known)).toEqual([])
  expect(unknownIn({ applied: applied(...known, '0004_d.sql') }, known)).toEqual(applied('0004_d.sql'))
})

const sound = {
  version: '16.2',
  version_num: 160_002,
  read_only: false,
  fsync: 'on',
  synchronous_commit: 'on',
  applied: applied(...known),
  unreleased: false,
}
const later = { name: '0004_d.sql', compatible: false, served: false }
const latest = { name: '0005_e.sql', compatible: false, served: false }
const yes = { compatible: true }
const served = { served: true }

// What a node does that lacks migrations of the database: whether it stays ready, and whether it may start.
for (const [unknown, isReady, mayStart] of [
  [[], true, true],
  [[later], true, false], // no node of the later release is ready yet
  [[{ ...later, ...served }], false, false],
  [[{ ...later, ...yes }], true, true],
  [[{ ...later, ...yes, ...served }], true, true],
  [[{ ...later, ...yes, ...served }, latest], true, false],
  [
    [
      { ...later, ...yes, ...served },
      { ...latest, ...served },
    ],
    false,
    false,
  ],
  [
    [
      { ...later, ...served },
      { ...latest, ...yes },
    ],
    false,
    false,
  ],
] as const)
  test(`beside ${JSON.stringify(unknown)}: ${isReady ? '' : 'not '}ready, ${mayStart ? 'may' : 'must not'} start`, () => {
    const state = { ...sound, applied: [...sound.applied, ...unknown] }
    expect([whyNotStore(state, known) === undefined, whyNotStartOn(state, known) === undefined]).toEqual([
      isReady,
      mayStart,
    ])
  })

for (const [what, state] of [
  ['tables that no release made', { unreleased: true }],
  ['a migration among ours that is in no release', { applied: applied('0001_a.sql', '0002_x.sql') }],
] as const)
  test(`${what}: neither ready nor to be started on`, () => {
    const found = { ...sound, ...state }
    expect(whyNotStore(found, known)).toBe('the database was made by an unreleased version of Tollgate')
    expect(whyNotStartOn(found, known)).toBe(
      'The database was made by an unreleased version of Tollgate, before 0.2.0: export what you need from it, and ' +
        'start with a new database.',
    )
  })
