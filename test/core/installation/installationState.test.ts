import { expect, test } from 'vitest'
import {
  type DatabaseIdentity,
  hasLiveNodeAtKnownAddress,
  judgeDatabase,
  type NodeOnRoute,
} from '../../../src/core/installation/installationState.ts'

const here = 'db:5432/tollgate'
const elsewhere = 'drill:5432/tollgate'
const stored = { state: 'original', reason: '', moved_to: '', system_identifier: '71' } as const
const known: DatabaseIdentity = { stored, addresses: [here], system_identifier: '71' }
const nothing = { isUsedAtKnownAddress: false, hasOnlyTestPayments: false }
const original = { state: { is: 'original' } }
const records = (reason: string) => ({ ...original, records: reason })
const copy = (why: object) => ({ state: { is: 'copy', why } })
const otherServer = copy({ kind: 'other_server' })
const unknownAddress = copy({ kind: 'unknown_address', address: elsewhere })
const marked: DatabaseIdentity = { ...known, stored: { ...stored, state: 'copy', reason: 'restored' } }
const moved: DatabaseIdentity = { ...known, stored: { ...stored, state: 'moved', moved_to: 'new:5432/t' } }

for (const [what, identity, address, facts, expected] of [
  ['a new database', { addresses: [], system_identifier: '71' }, here, {}, records('first')],
  ['a row without an address', { ...known, addresses: [] }, here, {}, records('first')],
  ['the known address', known, here, {}, original],
  // The timeline is not among the facts: after a failover both others are the same.
  ['one of several hosts is known', known, `${elsewhere} ${here}`, {}, records('another_route')],
  ['all hosts are known', { ...known, addresses: [here, elsewhere] }, `${elsewhere} ${here}`, {}, original],
  ['an unknown address', known, elsewhere, {}, unknownAddress],
  [
    'an unknown address, and a node uses the same database at a known one',
    known,
    elsewhere,
    { isUsedAtKnownAddress: true },
    records('another_route'),
  ],
  [
    'an embedded database at another place with test payments only',
    known,
    elsewhere,
    { hasOnlyTestPayments: true },
    records('only_test_payments'),
  ],
  ['another server at the known address', { ...known, system_identifier: '72' }, here, {}, otherServer],
  [
    'another server: its rows about nodes prove nothing',
    { ...known, system_identifier: '72' },
    elsewhere,
    { isUsedAtKnownAddress: true },
    otherServer,
  ],
  [
    'an embedded database on another server with test payments only',
    { ...known, system_identifier: '72' },
    here,
    { hasOnlyTestPayments: true },
    records('only_test_payments'),
  ],
  ['the role may not read the identifier now', { ...known, system_identifier: null }, here, {}, original],
  [
    'the identifier can be read now',
    { ...known, stored: { ...stored, system_identifier: null } },
    here,
    {},
    records('server_readable'),
  ],
  ['a restored database at the known address', marked, here, {}, copy({ kind: 'marked', words: 'restored' })],
  [
    'a restored database with test payments only',
    marked,
    here,
    { hasOnlyTestPayments: true, isUsedAtKnownAddress: true },
    copy({ kind: 'marked', words: 'restored' }),
  ],
  ['a database that has moved', moved, here, {}, { state: { is: 'moved', movedTo: 'new:5432/t' } }],
] as const) {
  test(`whether a database is the original: ${what}`, () =>
    expect(judgeDatabase(identity, address, { ...nothing, ...facts })).toEqual(expected))
}

const noon = new Date('2026-03-01T12:00:00Z')
const later = new Date(noon.getTime() + 1)
const row: NodeOnRoute = {
  node: 'a',
  number: 7,
  is_listening: true,
  database_address: here,
  seen_at: noon,
}

for (const [what, nodes, facts, expected] of [
  ['its row alone, as in a copy', [row], {}, false],
  ['it holds its lock', [row], { locked: [7] }, true],
  [
    'another node at an unknown address holds a lock',
    [{ ...row, database_address: elsewhere }],
    { locked: [7] },
    false,
  ],
  ['a lock that its row does not claim', [{ ...row, is_listening: false }], { locked: [7] }, false],
  ['no heartbeat since the last reading', [row], { before: [row] }, false],
  ['a heartbeat since then', [{ ...row, seen_at: later }], { before: [row] }, true],
  ['a node that has started since then', [row], { before: [] }, true],
  ['a heartbeat from an unknown address', [{ ...row, database_address: elsewhere }], { before: [] }, false],
  ['a node with several hosts', [{ ...row, database_address: `${elsewhere} ${here}` }], { before: [] }, true],
] as const) {
  test(`whether a node at a known address is alive: ${what}`, () =>
    expect(hasLiveNodeAtKnownAddress(nodes, { addresses: [here], locked: [], ...facts })).toBe(expected))
}
