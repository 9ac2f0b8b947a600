import { expect, test } from 'vitest'
import { findConcerns, nodeStateOf } from '../../../src/core/operator/liveFigures.ts'
import type { NodeRow } from '../../../src/core/operator/nodeList.ts'

const now = new Date('2026-11-19T14:00:00Z')
const hoursAgo = (hours: number) => new Date(now.getTime() - hours * 3_600_000)

const healthy = {
  now,
  installation: 'original',
  oldPrimaries: [],
  lastBackupAt: hoursAgo(3),
  takesLivePayments: true,
  accounts: [{ account: 'mtn', health: 'healthy', isRefused: false, isDisabled: false }],
  nodes: [{ name: 'a', state: 'good' }],
  lackWorkers: false,
  unreadable: [],
  openTasks: 0,
  failingEndpoints: 0,
} as const

type Live = Parameters<typeof findConcerns>[0]

for (const [what, changed, concerns] of [
  ['nothing', {}, []],
  ['a copy of the database', { installation: 'copy' }, [{ kind: 'copy' }]],
  ['a database that was moved', { installation: 'moved' }, [{ kind: 'moved' }]],
  ['an old primary', { oldPrimaries: ['db1'] }, [{ kind: 'old_primary', hosts: ['db1'] }]],
  [
    'a node without a master key, and one of an older schema',
    {
      nodes: [
        { name: 'b', state: 'older_schema' },
        { name: 'a', state: 'lacks_key' },
      ],
    },
    [
      { kind: 'keyless_node', node: 'a' },
      { kind: 'older_node', node: 'b' },
    ],
  ],
  ['no node with workers', { lackWorkers: true }, [{ kind: 'no_workers' }]],
  ['unreadable secrets', { unreadable: ['Ama'] }, [{ kind: 'unreadable_secrets', merchants: ['Ama'] }]],
  ['no backup', { lastBackupAt: undefined }, [{ kind: 'no_backup' }]],
  ['no backup, and test payments only', { lastBackupAt: undefined, takesLivePayments: false }, []],
  ['a backup of 26 hours', { lastBackupAt: hoursAgo(26) }, []],
  ['a backup of 27 hours', { lastBackupAt: hoursAgo(27) }, [{ kind: 'old_backup', hours: 27 }]],
] as [string, Partial<Live>, unknown[]][])
  test(`what needs a person, with ${what}`, () =>
    expect(findConcerns({ ...healthy, ...changed })).toEqual(concerns))

const row: NodeRow = {
  node: 'n',
  number: 1,
  is_listening: true,
  name: 'a',
  listens_at: '',
  version: '',
  schema: 49,
  key_ids: [],
  database_address: '',
  clock_offset_ms: 0,
  is_paused: false,
  role: 'all',
  started_at: now,
  seen_at: now,
  seen_ms_ago: 0,
}

for (const [state, changed, lacksKey] of [
  ['good', {}, false],
  ['lacks_key', { is_paused: true }, true],
  ['paused', { is_paused: true, schema: 48 }, false],
  ['older_schema', { schema: 48 }, false],
  ['clock_off', { clock_offset_ms: -251 }, false],
] as const)
  test(`a running node is ${state}`, () =>
    expect(nodeStateOf({ number: 1, presence: 'running', row: { ...row, ...changed } }, 49, lacksKey)).toBe(
      state,
    ))
