import { EventEmitter, once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { openDb, sql } from '../../../src/store/db.ts'
import { query } from './database.ts'

// Blocks the commit of a change to attempts or refunds. It is committed after the gateway was killed, or is lost with it.
const keys = {
  begun: 7101,
  submitted: 7102,
  replied: 7103,
  refund_added: 7104,
  refund_sending: 7105,
  refund_replied: 7106,
} as const
export type Written = keyof typeof keys

export type HeldCommit = { reached(): Promise<void>; land(): Promise<void>; lose(): Promise<void> }

const trigger = (what: Written, on: string, when = '', table = 'attempts') => `
  create constraint trigger hold_${what} after ${on} on ${table} deferrable initially deferred
    for each row ${when} execute function hold_commit('${keys[what]}')`

export const allowHolding = (databaseUrl: string) =>
  query(
    databaseUrl,
    `create function hold_commit() returns trigger language plpgsql set lock_timeout = 0 as $$
       begin perform pg_advisory_xact_lock_shared(tg_argv[0]::bigint); return null; end $$;
     ${trigger('begun', 'insert')};
     ${trigger('submitted', 'update', 'when (new.submits > old.submits)')};
     ${trigger('replied', 'update', 'when (new.submits = old.submits and new.updated_at > old.updated_at)')};
     ${trigger('refund_added', 'insert', '', 'refunds')};
     ${trigger('refund_sending', 'update', 'when (new.sends > old.sends)', 'refunds')};
     ${trigger('refund_replied', 'update', 'when (new.sends = old.sends and new.updated_at > old.updated_at)', 'refunds')}`,
  )

export async function holdCommits(databaseUrl: string, what: Written): Promise<HeldCommit> {
  const db = openDb(databaseUrl, 2)
  const bell = new EventEmitter()
  const [held, released] = [once(bell, 'held'), once(bell, 'released')]
  const holding = db.transaction(async tx => {
    await tx.rows(sql`select pg_advisory_xact_lock(${keys[what]})`)
    bell.emit('held')
    await released
  })
  await held
  const waiting = async () => {
    const rows = await db.rows<{ pid: number }>(sql`
      select pid from pg_locks where locktype = 'advisory' and objid = ${keys[what]} and not granted`)
    return rows.map(({ pid }) => pid)
  }
  // Their gateway is dead, so the sessions end after the commit.
  async function end(pids: readonly number[]) {
    bell.emit('released')
    await holding
    const left = sql`select from pg_stat_activity where pid = any(${pids})`
    while ((await db.rows(left)).length > 0) await sleep(20)
    await db.end()
  }
  return {
    async reached() {
      while ((await waiting()).length === 0) await sleep(20)
    },
    land: async () => end(await waiting()),
    async lose() {
      const pids = await waiting()
      for (const pid of pids) await db.rows(sql`select pg_terminate_backend(${pid})`)
      await end(pids)
    },
  }
}
