import { lackWorkers } from '../core/operator/nodeList.ts'
import { type JudgedNode, listNodes } from '../actions/installation/nodes.ts'
import type { NodeState } from '../core/operator/liveFigures.ts'
import type { CommandContext } from './database.ts'
import type { CliCommand } from './cliCommand.ts'
import type { Output } from './output.ts'
import { dateTime, paragraphs, table } from './terminal.ts'

export function addNodes(program: CliCommand) {
  program
    .command('nodes')
    .description(
      'List the nodes on this database: role, version, schema, clock, ids of the master keys that they hold, and when they were last seen.',
    )
    .examples('tollgate nodes', 'tollgate nodes --json')
    .runWithDatabase(list)
}

// What to do about each state. The live view of the dashboard shows the same states.
const meanings: Record<Exclude<NodeState, 'good'>, string> = {
  gone: 'It has died or lost the database. Nothing is lost: the other nodes do its work. Start it again.',
  silent: 'It is connected, but has not written its heartbeat: it hangs, or cannot write. Look at its log.',
  lacks_key:
    'It lacks a master key that is in use, so it is not ready: set TOLLGATE_MASTER_KEY there as on the others, and restart it.',
  paused:
    'It serves, but polls, expires and sends nothing: the database is a copy, or its clock jumped. tollgate doctor says which.',
  clock_off:
    'The clock of its machine differs from that of the database. Payments do not use it; set it by NTP.',
  older_schema: 'It is of an earlier release than another node. Update it.',
  unlisted: 'It is of a release that writes no heartbeat (0.2.0). Update it.',
}

const noWorkers =
  'No node runs workers: nothing is sent, polled or expired. Start one with TOLLGATE_ROLE=worker, or all.'

async function list({ db }: CommandContext): Promise<Output> {
  const nodes = await listNodes(db)
  const data = { nodes: nodes.map(nodeData) }
  if (nodes.length === 0) return { data, text: 'No node runs on this database.' }
  const titles = [
    'NODE',
    'ADDRESS',
    'ROLE',
    'STATE',
    'VERSION',
    'SCHEMA',
    'CLOCK',
    'STARTED',
    'SEEN',
    'MASTER KEYS',
  ]
  const rows = nodes.map(({ name, row, state }) => [
    name,
    row?.listens_at,
    row?.role,
    state,
    row?.version,
    row?.schema,
    row && `${row.clock_offset_ms < 0 ? '' : '+'}${Math.round(row.clock_offset_ms)} ms`,
    row && dateTime(row.started_at).slice(0, 16),
    row && `${Math.round(row.seen_ms_ago / 1000)} s ago`,
    row?.key_ids.join(' '),
  ])
  const states = new Set(nodes.map(({ state }) => state))
  const meaningLines = Object.entries(meanings)
    .filter(([state]) => states.has(state as NodeState))
    .map(([state, meaning]) => `${state}: ${meaning}`)
  const listed = table(titles, rows, ['SCHEMA', 'CLOCK', 'SEEN'])
  return { data, text: paragraphs(listed, meaningLines.join('\n'), lackWorkers(nodes) && noWorkers) }
}

const nodeData = ({ name, row, state }: JudgedNode) => ({
  name: row ? name : null,
  state,
  listens_at: row?.listens_at ?? null,
  version: row?.version ?? null,
  schema: row?.schema ?? null,
  clock_offset_ms: row?.clock_offset_ms ?? null,
  key_ids: row?.key_ids ?? [],
  database_address: row?.database_address ?? null,
  is_paused: row?.is_paused ?? null,
  role: row?.role ?? null,
  started_at: row?.started_at ?? null,
  seen_at: row?.seen_at ?? null,
})
