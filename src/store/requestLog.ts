import type { RefusedRequest } from '../core/interface/refusedRequest.ts'
import type { Mode } from '../core/mode.ts'
import { named, sql, type Tx } from './db.ts'
import { ofMerchants } from './groupStatement.ts'

export type RefusedCount = {
  merchant_id: string
  mode: Mode
  day: string // 2026-05-31, UTC
  code: string
  refused: number
}

// Adds to the counts, and returns the new ones. In the order of the key, so that two nodes cannot deadlock.
export const addRefusedCounts = (tx: Tx, all: readonly RefusedCount[]) =>
  tx.rows<RefusedCount>(named('add_refused_counts')`
    insert into refused_counts as c (merchant_id, mode, day, code, refused)
    select * from unnest(${all.map(c => c.merchant_id)}::text[], ${all.map(c => c.mode)}::text[],
      ${all.map(c => c.day)}::date[], ${all.map(c => c.code)}::text[], ${all.map(c => c.refused)}::integer[])
    order by 1, 2, 3, 4
    on conflict (merchant_id, mode, day, code) do update
      set refused = c.refused + excluded.refused
    returning merchant_id, mode, day::text as day, code, refused`)

export const addRefusedRequests = (tx: Tx, all: readonly RefusedRequest[]) =>
  tx.rows(named('add_refused_requests')`
    insert into refused_requests (merchant_id, request_id, mode, refused_at, method, path, http, code, field,
      message, hint, fields)
    select * from unnest(${all.map(r => r.merchant_id)}::text[], ${all.map(r => r.request_id)}::text[],
      ${all.map(r => r.mode)}::text[], ${all.map(r => r.refused_at)}::timestamptz[],
      ${all.map(r => r.method)}::text[], ${all.map(r => r.path)}::text[], ${all.map(r => r.http)}::integer[],
      ${all.map(r => r.code)}::text[], ${all.map(r => r.field)}::text[], ${all.map(r => r.message)}::text[],
      ${all.map(r => r.hint && JSON.stringify(r.hint))}::jsonb[],
      ${all.map(r => JSON.stringify(r.fields))}::jsonb[])
    on conflict (merchant_id, request_id) do nothing`)

export type RefusedFilter = {
  merchant_id: string
  mode?: Mode
  before?: string // a request_id: only older ones
  limit: number
}

// Newest first.
export const listRefusedRequests = (tx: Tx, { merchant_id, mode, before, limit }: RefusedFilter) =>
  tx.rows<RefusedRequest>(sql`
    select * from refused_requests
    where merchant_id = ${merchant_id} and (${mode ?? null}::text is null or mode = ${mode ?? null})
      ${before === undefined ? sql`` : isBefore(merchant_id, before)}
    order by refused_at desc, request_id desc limit ${limit}`)

const isBefore = (merchant_id: string, request_id: string) => sql`
  and (refused_at, request_id) < (select refused_at, request_id from refused_requests
    where merchant_id = ${merchant_id} and request_id = ${request_id})`

// The id is unique, so at most one merchant has it.
export const findRefusedRequest = (tx: Tx, merchant_ids: readonly string[], request_id: string) =>
  tx.one<RefusedRequest>(sql`
    select * from refused_requests where merchant_id = any(${merchant_ids}) and request_id = ${request_id}`)

export const refusedCountsOf = (tx: Tx, merchant_id: string) =>
  tx.rows<RefusedCount>(sql`
    select merchant_id, mode, day::text as day, code, refused from refused_counts
    where merchant_id = ${merchant_id} order by day desc, mode, code`)

// Removes requests and counts from before a time. Returns how many.
export const forgetRefused = async (tx: Tx, before: Date, limit: number): Promise<number> =>
  (await forgetRequests(tx, before, limit)) + (await forgetCounts(tx, before, limit))

async function forgetRequests(tx: Tx, before: Date, limit: number): Promise<number> {
  const found = await tx.rows<Pick<RefusedRequest, 'merchant_id' | 'request_id'>>(sql`
    select merchant_id, request_id from refused_requests
    where refused_at < ${before} order by refused_at limit ${limit}`)
  if (found.length === 0) return 0
  return tx.count(sql`
    delete from refused_requests r
    using unnest(${found.map(f => f.merchant_id)}::text[], ${found.map(f => f.request_id)}::text[])
      as k (merchant_id, request_id)
    where r.merchant_id = k.merchant_id and r.request_id = k.request_id and ${ofMerchants('r', found)}`)
}

async function forgetCounts(tx: Tx, before: Date, limit: number): Promise<number> {
  const found = await tx.rows<Omit<RefusedCount, 'refused'>>(sql`
    select merchant_id, mode, day::text as day, code from refused_counts
    where day < (${before}::timestamptz at time zone 'UTC')::date order by day limit ${limit}`)
  if (found.length === 0) return 0
  return tx.count(sql`
    delete from refused_counts c
    using unnest(${found.map(f => f.merchant_id)}::text[], ${found.map(f => f.mode)}::text[],
        ${found.map(f => f.day)}::date[], ${found.map(f => f.code)}::text[]) as k (merchant_id, mode, day, code)
    where c.merchant_id = k.merchant_id and c.mode = k.mode and c.day = k.day and c.code = k.code
      and ${ofMerchants('c', found)}`)
}
