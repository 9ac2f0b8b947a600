import pg from 'pg'
import { hostsOf } from './connections/hosts.ts'

const channel = 'tollgate'
const presence = 0x746f6c6c // the class of the locks by which nodes are known to be there
const connectWithinMs = 1000
const answerWithinMs = 10_000
const keepAliveMs = 5000

// One connection that a node has for itself, to the primary: on it the node hears others, and holds the lock that says
// that it is there. Both end with the connection.
export type NodeSession = {
  isOpen(): boolean
  say(words: string): Promise<void>
  present(): Promise<number[]> // the numbers of all nodes that are there
  close(): Promise<void>
}
export type OnWakeUp = (words: string) => void

export async function openNodeSession(url: string, number: number, hear: OnWakeUp): Promise<NodeSession> {
  let trouble: unknown
  for (const host of hostsOf(url))
    try {
      return await open(host, number, hear)
    } catch (error) {
      trouble = error
    }
  throw trouble
}

async function open(host: string, number: number, hear: OnWakeUp): Promise<NodeSession> {
  const client = new pg.Client({
    connectionString: host,
    application_name: 'tollgate node',
    connectionTimeoutMillis: connectWithinMs,
    query_timeout: answerWithinMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
  })
  client.on('error', () => {}) // the end follows
  // What we said ourselves is known here. Behind a pooler the number is the pooler's, and one look too many is no harm.
  const ourselves = () => (client as unknown as { processID: number | null }).processID
  client.on('notification', ({ processId, payload = '' }) => {
    if (processId !== ourselves()) hear(payload)
  })
  try {
    await client.connect()
    await begin(client, number)
  } catch (error) {
    void client.end().catch(() => {})
    throw error
  }
  let isOpen = true
  client.on('end', () => (isOpen = false))
  return {
    isOpen: () => isOpen,
    say: async words => void (await client.query(hint, [channel, words])),
    async present() {
      const { rows } = await client.query<{ number: number }>(present, [presence])
      return rows.map(row => row.number)
    },
    close: () => client.end(),
  }
}

async function begin(client: pg.Client, number: number) {
  const { rows } = await client.query<{ standby: boolean }>('select pg_is_in_recovery() as standby')
  if (rows[0]?.standby) throw new Error('this server is a standby')
  await client.query(`listen ${channel}`)
  const lock = await client.query<{ ours: boolean }>('select pg_try_advisory_lock($1, $2) as ours', [
    presence,
    number,
  ])
  if (!lock.rows[0]?.ours) throw new Error('the connection before this one has not ended yet')
}

// A word that may be lost need not wait for the disk.
const hint = `select set_config('synchronous_commit', 'off', true), pg_notify($1, $2)`

const present = `select distinct objid::bigint::integer as number from pg_locks
  where locktype = 'advisory' and classid = $1::integer::oid and objsubid = 2 and granted
    and database = (select oid from pg_database where datname = current_database())`
