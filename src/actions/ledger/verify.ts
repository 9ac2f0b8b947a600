import { createSeal, type Seal, sealFault, type SealFault } from '../../core/ledger/seal.ts'
import type { Db, Tx } from '../../store/db.ts'
import { type AccountSums, lastSnapshot, sumsUntil } from '../../store/ledger/balances.ts'
import { sealsBehind } from '../../store/ledger/seals.ts'
import { type WrongCharge, wrongCharges } from '../../store/ledger/search.ts'
import { type SealedChain, transferChain } from './seal.ts'

const sealsAtOnce = 100
const maxListed = 20

export type SealHead = { number: number; until_at: Date; digest: string }

export type LedgerReport = {
  merchant_id: string
  seals: number
  transfers: bigint // that are sealed
  head: SealHead | null
  sealFault: SealFault | null // the first
  snapshotFaults: string[]
  wrongCharges: WrongCharge[] // the first ones
}

export const isIntact = ({ sealFault: fault, snapshotFaults, wrongCharges: wrong }: LedgerReport) =>
  fault === null && snapshotFaults.length === 0 && wrong.length === 0

// Recomputes everything about the ledger of one merchant: its chain of seals, its last snapshot, and whether each charge is
// booked as it is recorded. `expected` is a head that was exported before.
export async function verifyLedger(
  db: Db,
  merchant_id: string,
  now: Date,
  expected?: { number: number; digest: string },
): Promise<LedgerReport> {
  const chain = await verifyChain(() => db, transferChain(db, merchant_id), expected)
  return {
    merchant_id,
    seals: chain.seals,
    transfers: chain.rows,
    head: chain.head,
    sealFault: chain.sealFault,
    snapshotFaults: await verifySnapshot(db, merchant_id, now),
    wrongCharges: await wrongCharges(db, merchant_id, maxListed),
  }
}

export type ChainReport = {
  seals: number
  rows: bigint // that are sealed
  head: SealHead | null
  sealFault: SealFault | null // the first
}

// Recomputes every seal of a chain from its present rows. `open` gives a database for each batch, with a deadline of its own
// where there is one.
export async function verifyChain(
  open: () => Tx,
  chain: SealedChain,
  expected?: { number: number; digest: string },
): Promise<ChainReport> {
  let before: Seal | undefined
  let rows = 0n
  let fault: SealFault | undefined
  let isExpectedFound = expected === undefined
  for await (const stored of sealsOf(open, chain.id)) {
    fault ??= await faultOfSeal(chain, before, stored)
    if (stored.number === expected?.number)
      isExpectedFound = stored.digest.toString('hex') === expected.digest
    rows += stored.transfers
    before = stored
  }
  if (expected && !isExpectedFound)
    fault ??= { seal: expected.number, row_id: null, words: 'the seal is not the one that was exported' }
  return {
    seals: before?.number ?? 0,
    rows,
    head: before ? headOf(before) : null,
    sealFault: fault ?? null,
  }
}

export const headOf = ({ number, until_at, digest }: Seal): SealHead => ({
  number,
  until_at,
  digest: digest.toString('hex'),
})

async function* sealsOf(open: () => Tx, merchant_id: string): AsyncGenerator<Seal> {
  let number = 0
  for (;;) {
    const seals = await sealsBehind(open(), merchant_id, number, sealsAtOnce)
    yield* seals
    number = seals.at(-1)?.number ?? number
    if (seals.length < sealsAtOnce) return
  }
}

async function faultOfSeal(
  chain: SealedChain,
  before: Seal | undefined,
  stored: Seal,
): Promise<SealFault | undefined> {
  const { merchant_id, until_at, number } = stored
  if (number !== (before?.number ?? 0) + 1)
    return { seal: number, row_id: null, words: 'a seal before it is missing' }
  const computed = createSeal(before, { merchant_id, until_at })
  const rows: { row_id: string }[] = []
  for await (const row of chain.rows(before?.until_at ?? null, until_at)) {
    computed.add(row)
    rows.push({ row_id: row.row_id })
  }
  return sealFault(stored, computed.finish(), rows, chain.noun)
}

const sumTexts = (sums: readonly AccountSums[]) =>
  new Set(sums.map(one => `${one.mode} ${one.currency} ${one.account}: ${one.debits} in, ${one.credits} out`))

// The last snapshot must have the sums of all transfers until then.
async function verifySnapshot(tx: Tx, merchant_id: string, now: Date): Promise<string[]> {
  const until = await lastSnapshot(tx, merchant_id, now)
  if (!until) return []
  const [stored, computed] = [
    await sumsUntil(tx, merchant_id, until, until),
    await sumsUntil(tx, merchant_id, null, until),
  ]
  const [was, is] = [sumTexts(stored), sumTexts(computed)]
  return [
    ...[...is].filter(text => !was.has(text)).map(text => `by the transfers ${text}`),
    ...[...was].filter(text => !is.has(text)).map(text => `by the snapshot ${text}`),
  ].slice(0, maxListed)
}
