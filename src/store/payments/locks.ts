import { raw, type Sql } from 'sql-template-tag'
import type { Attempt } from '../../core/payment/attempt.ts'
import type { RecentFailures } from '../../core/payment/mayStart.ts'
import { type Db, named, sql, type Tx } from '../db.ts'
import { ofReachableMerchants } from '../reachableMerchants.ts'
import { setShortLockTimeout, takeUnlocked } from '../skipLocked.ts'
import { type AttemptInJson, attemptOfJson } from './attempts.ts'
import { byPaymentName, type PaymentKey, paymentName, unnestPaymentKeys } from './paymentKeys.ts'
import { lockPayment, merchantColumns, type PaymentWithMerchant, paymentWithMerchant } from './paymentLife.ts'

// A transaction that changes payments locks their rows first, so that changes of one payment are serialized. A batch skips
// rows that other transactions have locked; a single item waits. A sharded database locks on one shard only, so there a
// batch has one statement for each merchant (`by_merchant`), all sent at once: see skipLocked.ts.
export type LockMode = 'skipping' | 'by_merchant' | 'waiting'

const forUpdate = (of: string, mode: LockMode) =>
  raw(`for update of ${of}${mode === 'waiting' ? '' : ' skip locked'}`)

// One merchant is named by a value, from which a sharded database finds the shard.
type KeyCondition = { isOfKey(table: string): Sql; name: string }

function conditionOf(name: string, items: readonly PaymentKey[], mode: LockMode): KeyCondition {
  const first = items[0]?.merchant_id
  const verb = mode === 'waiting' ? 'waiting' : 'skipping'
  return items.every(({ merchant_id }) => merchant_id === first)
    ? { isOfKey: table => sql`${raw(table)}.merchant_id = ${first}`, name: `${name}_${verb}` }
    : { isOfKey: table => sql`${raw(table)}.merchant_id = k.merchant_id`, name: `${name}_of_many` }
}

async function lockBatch<Item extends PaymentKey, Row>(
  items: readonly Item[],
  mode: LockMode,
  lock: (some: readonly Item[]) => Promise<Row[]>,
): Promise<Row[]> {
  if (mode !== 'by_merchant') return items.length === 0 ? [] : lock(items)
  const itemsOf = (merchant_id: string) => items.filter(item => item.merchant_id === merchant_id)
  const merchants = [...new Set(items.map(({ merchant_id }) => merchant_id))]
  return (await Promise.all(merchants.map(merchant_id => lock(itemsOf(merchant_id))))).flat()
}

type Capped = 'instrument' | 'payer'

export type AttemptToBegin = PaymentKey & {
  attempt: Pick<Attempt, Capped>
  most: Record<Capped, number> // unpaid attempts since `since`
  since: Date
}
export type LockedToBegin = PaymentWithMerchant & {
  attempts: Attempt[]
  failures: Record<Capped, RecentFailures>
}
type RowToBegin = PaymentWithMerchant & {
  attempts: AttemptInJson[] | null
  instrument_failed_at: Date[]
  instrument_skipped: number
  payer_failed_at: Date[]
  payer_skipped: number
}

// Locks payments and reads their attempts and the unpaid attempts of the same wallet and payer. `all` is in the order of
// arrival. After a wait for the lock, the payment is read as it is now, and everything else as it was when the statement
// began. An attempt that began in between violates a unique key of the table when the new one is inserted.
export const lockToBegin = (tx: Tx, all: readonly AttemptToBegin[], mode: LockMode) =>
  lockBatch(all, mode, some => lockSomeToBegin(tx, some, mode))

async function lockSomeToBegin(
  tx: Tx,
  all: readonly AttemptToBegin[],
  mode: LockMode,
): Promise<LockedToBegin[]> {
  const { isOfKey, name } = conditionOf('lock_to_begin', all, mode)
  const instrument = failuresToRead('instrument', all)
  const payer = failuresToRead('payer', all)
  const rows = await tx.rows<RowToBegin>(named(name)`
    select p.*, ${merchantColumns},
      (select jsonb_agg(to_jsonb(a) order by a.number) from attempts a
        where ${isOfKey('a')} and a.tx_reference = p.tx_reference) as attempts,
      ${failedAt('instrument', isOfKey)} as instrument_failed_at, k.instrument_skipped,
      ${failedAt('payer', isOfKey)} as payer_failed_at, k.payer_skipped
    from payments p join merchants m on m.merchant_id = p.merchant_id
      join unnest(${all.map(one => one.merchant_id)}::text[], ${all.map(one => one.tx_reference)}::text[],
        ${all.map(one => one.attempt.instrument)}::text[], ${all.map(one => one.attempt.payer)}::text[],
        ${instrument.skipped}::integer[], ${instrument.read}::integer[],
        ${payer.skipped}::integer[], ${payer.read}::integer[], ${all.map(one => one.since)}::timestamptz[])
        as k (merchant_id, tx_reference, instrument, payer, instrument_skipped, instrument_read, payer_skipped,
          payer_read, since)
        on k.tx_reference = p.tx_reference
    where ${isOfKey('p')} ${forUpdate('p', mode)}`)
  return rows.map(
    ({ attempts, instrument_failed_at, instrument_skipped, payer_failed_at, payer_skipped, ...payment }) => ({
      ...payment,
      attempts: (attempts ?? []).map(attemptOfJson),
      failures: {
        instrument: { at: instrument_failed_at, skipped: instrument_skipped },
        payer: { at: payer_failed_at, skipped: payer_skipped },
      },
    }),
  )
}

// Usually the failure at the place of the cap is enough. Earlier items of the same wallet or payer in this transaction may
// fill one place each, so as many more are read.
function failuresToRead(kind: Capped, all: readonly AttemptToBegin[]) {
  const earlier = new Map<string, number>()
  const places = all.map(({ merchant_id, attempt: { [kind]: value }, most: { [kind]: cap } }) => {
    const name = `${merchant_id} ${value}`
    const before = earlier.get(name) ?? 0
    earlier.set(name, before + 1)
    const skipped = Math.max(0, cap - 1 - before)
    return { skipped, read: cap - skipped }
  })
  return { skipped: places.map(({ skipped }) => skipped), read: places.map(({ read }) => read) }
}

// An unresolved attempt counts as a failure until it is paid; otherwise a burst of attempts would pass. An attempt that was
// never sent does not count.
const failedAt = (kind: Capped, isOfKey: KeyCondition['isOfKey']) => sql`
  array(select f.created_at from attempts f where ${isOfKey('f')} and f.state <> 'paid'
    and f.${raw(kind)} = k.${raw(kind)} and f.created_at > k.since and f.reason is distinct from 'not_sent'
    order by f.created_at desc offset k.${raw(kind)}_skipped limit k.${raw(kind)}_read)`

export type LockedToResolve = { payment: PaymentWithMerchant; attempt: Attempt }

export type AttemptToResolve = PaymentKey & { snapshot: Pick<Attempt, 'attempt_id'> }

// Locks both rows, so that both are current, even after a wait for the lock.
export const lockToResolve = (tx: Tx, all: readonly AttemptToResolve[], mode: LockMode) =>
  lockBatch(all, mode, some => lockSomeToResolve(tx, some, mode))

async function lockSomeToResolve(
  tx: Tx,
  all: readonly AttemptToResolve[],
  mode: LockMode,
): Promise<LockedToResolve[]> {
  const { isOfKey, name } = conditionOf('lock_to_resolve', all, mode)
  const rows = await tx.rows<PaymentWithMerchant & { attempt: AttemptInJson }>(named(name)`
    select p.*, ${merchantColumns}, to_jsonb(a) as attempt
    from unnest(${all.map(one => one.merchant_id)}::text[], ${all.map(one => one.snapshot.attempt_id)}::text[])
        as k (merchant_id, attempt_id)
      join attempts a on a.attempt_id = k.attempt_id join payments p on p.tx_reference = a.tx_reference
      join merchants m on m.merchant_id = p.merchant_id
    where ${isOfKey('a')} and ${isOfKey('p')} ${forUpdate('p, a', mode)}`)
  return rows.map(({ attempt, ...payment }) => ({ payment, attempt: attemptOfJson(attempt) }))
}

export const lockToEnd = (tx: Tx, keys: readonly PaymentKey[], mode: LockMode) =>
  lockBatch(keys, mode, some => {
    const { isOfKey, name } = conditionOf('lock_to_end', some, mode)
    return tx.rows<PaymentWithMerchant>(named(name)`
      select p.*, ${merchantColumns}
      from ${unnestPaymentKeys(some)} join payments p on p.tx_reference = k.tx_reference
        join merchants m on m.merchant_id = p.merchant_id
      where ${isOfKey('p')} ${forUpdate('p', mode)}`)
  })

// The next search for expired payments continues behind this payment, in the order of expiry.
export type ExpiryPosition = PaymentKey & { expires_at: Date }

// Finds payments that have expired by `now` and have no unresolved attempt.
export type ExpirySearch = {
  now: Date
  behind?: ExpiryPosition // without it, from the oldest
  leftOut: readonly PaymentKey[]
}

// The first condition on `behind` follows from the second; the planner uses it to start in the index.
const isExpired = ({ now, behind, leftOut }: ExpirySearch) => sql`
  p.status = 'awaiting_payment' and p.expires_at <= ${now}
  ${
    behind
      ? sql`and p.expires_at >= ${behind.expires_at} and (p.expires_at, p.merchant_id, p.tx_reference) >
          (${behind.expires_at}, ${behind.merchant_id}, ${behind.tx_reference})`
      : sql``
  }
  and not exists (select from attempts a where a.merchant_id = p.merchant_id
    and a.tx_reference = p.tx_reference and a.state not in ('paid', 'failed'))
  ${isNoneOf(leftOut)}`

const inExpiryOrder = sql`order by p.expires_at, p.merchant_id, p.tx_reference`

const isNoneOf = (keys: readonly PaymentKey[]) =>
  keys.length === 0
    ? sql``
    : sql`and p.merchant_id || ' ' || p.tx_reference <> all(${keys.map(paymentName)}::text[])`

// The oldest that no other transaction has locked. Not named: the best plan depends on the times.
export const lockExpired = (tx: Tx, search: ExpirySearch, limit: number) =>
  tx.rows<PaymentWithMerchant>(sql`
    ${paymentWithMerchant} where ${isExpired(search)}
    ${inExpiryOrder} limit ${limit} for update of p skip locked`)

export const findExpired = async (tx: Tx, search: ExpirySearch, limit: number) => {
  const found = await ofReachableMerchants(tx, among =>
    tx.rows<ExpiryPosition>(sql`
      select p.merchant_id, p.tx_reference, p.expires_at from payments p
      where ${isExpired(search)} ${among.merchants('p.merchant_id')}
      ${inExpiryOrder} limit ${limit}`),
  )
  return found.toSorted((a, b) => a.expires_at.getTime() - b.expires_at.getTime()).slice(0, limit)
}

const lockFreePayments = (tx: Tx, keys: readonly PaymentKey[]) =>
  tx.rows<PaymentWithMerchant>(named('lock_free_payments')`
    ${paymentWithMerchant} join ${unnestPaymentKeys(keys)}
      on k.merchant_id = p.merchant_id and k.tx_reference = p.tx_reference
    for update of p skip locked`)

// One by one, because a sharded database locks on one shard only.
async function lockPayments(tx: Tx, keys: readonly PaymentKey[]): Promise<PaymentWithMerchant[]> {
  const locked: PaymentWithMerchant[] = []
  for (const key of keys.toSorted(byPaymentName)) {
    const payment = await lockPayment(tx, key)
    if (payment) locked.push(payment)
  }
  return locked
}

// Which payments a batch takes.
type PaymentSelection = {
  lock(tx: Tx): Promise<readonly PaymentWithMerchant[]> // by SKIP LOCKED
  find(tx: Tx): Promise<readonly PaymentKey[]> // the same without locks, for a database that refuses SKIP LOCKED
}

export const selectByKeys = (keys: readonly PaymentKey[]): PaymentSelection => ({
  lock: tx => lockFreePayments(tx, keys),
  find: async () => keys,
})

// Runs `work` in a transaction that has locked the payments. Payments that another transaction has locked are left out.
export const takePayments = <Done>(
  db: Db,
  { lock, find }: PaymentSelection,
  work: (tx: Tx, payments: readonly PaymentWithMerchant[]) => Promise<readonly Done[]>,
) =>
  takeUnlocked(db, {
    skipping: own =>
      own.transaction(async tx => {
        await setShortLockTimeout(tx)
        return work(tx, await lock(tx))
      }),
    find,
    waiting: async (tx, keys) => work(tx, await lockPayments(tx, keys)),
  })
