import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { Unavailable } from '../../core/interface/refusal.ts'
import { connectToPrimary } from '../connections/primarySession.ts'
import type { Query, Tx } from '../db.ts'

const connectTimeoutMs = 5000
const lockTimeout = '20s'

export type CopyTable = { name: string; columns: string[] }

// One transaction on a connection outside of the pool, because COPY of a large table takes longer than any statement of the
// gateway may.
export type CopySession = {
  tx: Tx
  copyOut(table: CopyTable): Readable
  copyIn(table: CopyTable, data: AsyncIterable<Buffer>): Promise<number> // rows
  commit(): Promise<void>
  close(): Promise<void> // without a commit before it, nothing was changed
}

type Purpose = { name: string; begin: `begin${string}` }

export const forReading: Purpose = {
  name: 'tollgate backup',
  begin: 'begin isolation level repeatable read read only',
}
export const forMoving: Purpose = { name: 'tollgate move', begin: 'begin isolation level repeatable read' }
export const forWriting: Purpose = { name: 'tollgate restore', begin: 'begin' }

// The texts of COPY are the same whatever the settings of the server and the role are. Set by SET, which takes no snapshot:
// the snapshot has to begin after the tables are locked.
const settings = {
  statement_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  lock_timeout: `'${lockTimeout}'`,
  datestyle: "'ISO, YMD'",
  intervalstyle: 'postgres',
  timezone: "'UTC'",
  bytea_output: 'hex',
  extra_float_digits: '1',
}

export async function openCopySession(url: string, { name, begin }: Purpose): Promise<CopySession> {
  const client = await openPrimary(url, name)
  try {
    const { rows } = await client.query(`select current_setting('server_version_num')::int as version`)
    const all = { ...settings, ...(rows[0].version >= 170_000 && { transaction_timeout: '0' }) }
    const set = Object.entries(all).map(([setting, value]) => `set local ${setting} = ${value}`)
    await client.query([begin, ...set].join('; '))
  } catch (error) {
    await client.end().catch(() => {})
    throw error
  }
  const target = ({ name: table, columns }: CopyTable) =>
    `${client.escapeIdentifier(table)} (${columns.map(column => client.escapeIdentifier(column)).join(', ')})`
  return {
    tx: txOf(client),
    copyOut: table => client.query(copyTo(`copy ${target(table)} to stdout`)),
    async copyIn(table, data) {
      const sink = client.query(copyFrom(`copy ${target(table)} from stdin`))
      await pipeline(data, sink)
      return sink.rowCount
    },
    async commit() {
      await client.query('commit')
    },
    close: () => client.end().catch(() => {}),
  }
}

// An old primary lacks the last payments.
async function openPrimary(url: string, application_name: string) {
  const options = { application_name, connectionTimeoutMillis: connectTimeoutMs, keepAlive: true }
  try {
    return (await connectToPrimary(url, options)).client
  } catch (error) {
    throw error instanceof pg.DatabaseError ? error : new Unavailable(error)
  }
}

function txOf(client: pg.Client): Tx {
  const rows = async <Row>(query: Query) => (await client.query(query.text, query.values)).rows as Row[]
  return {
    rows,
    one: async <Row>(query: Query) => (await rows<Row>(query))[0],
    count: async query => (await client.query(query.text, query.values)).rowCount ?? 0,
    tuples: async <Tuple extends readonly unknown[]>({ text, values }: Query) =>
      (await client.query({ text, values, rowMode: 'array' })).rows as unknown as Tuple[],
    writeWithCommit: rows,
    locks: { strategy: { state: 'untested' } },
  }
}
