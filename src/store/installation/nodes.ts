import type { NodeFacts, NodeRow } from '../../core/operator/nodeList.ts'
import { named, sql, type Tx } from '../db.ts'

export type Heartbeat = NodeFacts & { node: string; number: number; is_listening: boolean }

// The times are those of the database server, so that a jump of its clock or a paused process changes nothing about how
// long ago a node was seen. A heartbeat may be lost, so its commit does not wait for the disk or for standbys.
export const saveHeartbeat = (tx: Tx, beat: Heartbeat) =>
  tx.rows(named('save_heartbeat')`
    with lost as (select set_config('synchronous_commit', 'off', true) as setting)
    insert into nodes (node, number, is_listening, name, listens_at, version, schema, key_ids, database_address,
      clock_offset_ms, is_paused, role, started_at, seen_at)
    select ${beat.node}, ${beat.number}::integer, ${beat.is_listening}::boolean, ${beat.name}, ${beat.listens_at}, ${beat.version},
      ${beat.schema}::integer, ${beat.key_ids}::text[], ${beat.database_address}, ${beat.clock_offset_ms}::double precision, ${beat.is_paused}::boolean,
      ${beat.role}, clock_timestamp(), clock_timestamp() from lost where setting is not null
    on conflict (node) do update set number = excluded.number, is_listening = excluded.is_listening,
      key_ids = excluded.key_ids, clock_offset_ms = excluded.clock_offset_ms, is_paused = excluded.is_paused,
      seen_at = excluded.seen_at`)

export const removeNode = (tx: Tx, node: string) => tx.count(sql`delete from nodes where node = ${node}`)

export const removeNodesUnseenFor = (tx: Tx, ms: number) =>
  tx.count(sql`delete from nodes where seen_at < clock_timestamp() - ${ms} * interval '1 millisecond'`)

// All of them, the oldest first.
export const nodeRows = (tx: Tx) =>
  tx.rows<NodeRow>(sql`
    select *, (extract(epoch from clock_timestamp() - seen_at) * 1000)::double precision as seen_ms_ago
    from nodes order by started_at, node`)
