import { sealAuditLog } from '../actions/access/auditSeal.ts'
import { takeSnapshot } from '../actions/ledger/balances.ts'
import { sumClosing } from '../actions/ledger/closing.ts'
import { type HeadMail, mailHeads } from '../actions/ledger/mailHeads.ts'
import { bookingLagMs, sealTransfers } from '../actions/ledger/seal.ts'
import { type FoundUnbooked, searchUnbooked } from '../actions/ledger/search.ts'
import { sumPayments } from '../actions/payments/outletReport.ts'
import type { Pause } from '../core/databaseClock.ts'
import type { Heartbeats } from '../runtime/heartbeats.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { listMerchants } from '../store/merchants/merchants.ts'
import { servedSince } from '../store/migrate/migrationList.ts'
import { type Loop, startLoop } from './loop.ts'

const restMs = 60_000
const hourMs = 3_600_000
const dayMs = 24 * hourMs

export type LedgerWatch = { found(found: FoundUnbooked): void; sealed(transfers: number): void }

type LedgerOptions = LedgerWatch & {
  zone: string
  mail?: HeadMail
  trouble(error: unknown): void
  pause?: Pause
  heartbeats?: Heartbeats
}

// Every hour, for each merchant: books charges without transfers, seals the transfers, stores the balances of the days that
// are over, and sums transfers for closings and payments for reports. Then it seals the audit log. Every node does it; two
// nodes that do the same write the same rows.
export function startLedger(
  { db, clock }: Pick<Runtime, 'db' | 'clock'>,
  { zone, mail, found, sealed, trouble, pause, heartbeats }: LedgerOptions,
): Loop {
  const own = db.withQuota('ledger')
  let hourDone = 0
  const state = { isStopping: false }

  // Books a merchant in small steps, each of which shows that the worker runs.
  async function workOn(merchant_id: string, sumsPayments: boolean, beat: () => void) {
    const goesOn = () => {
      beat()
      return !state.isStopping
    }
    for (let hasMore = true; hasMore && goesOn(); ) {
      const result = await searchUnbooked(own, merchant_id, clock())
      if (result.found) found(result.found)
      hasMore = result.hasMore
    }
    const seal = await sealTransfers(own, merchant_id, clock())
    if (seal) sealed(Number(seal.transfers))
    while (goesOn() && (await takeSnapshot(own, merchant_id, zone, clock()))) continue
    for (const mode of ['live', 'test'] as const)
      while (goesOn() && (await sumClosing(own, { merchant_id, mode }, zone, clock()))) continue
    if (!sumsPayments) return
    for (const mode of ['live', 'test'] as const) {
      let hasMore = true
      while (hasMore && goesOn()) hasMore = await sumPayments(own, { merchant_id, mode }, zone, clock())
    }
  }

  async function step(beat: () => void) {
    const hour = Math.floor((clock().getTime() - bookingLagMs) / hourMs)
    if (hour === hourDone) return
    const served = await servedSince(own, '0035_report_totals.sql')
    // A node of the version before records no late changes.
    const sumsPayments = served !== null && clock().getTime() - served.getTime() > dayMs
    for (const { merchant_id } of await listMerchants(own)) {
      if (state.isStopping) return
      await workOn(merchant_id, sumsPayments, beat).catch(trouble)
    }
    beat()
    await sealAuditLog(own, clock()).catch(trouble)
    beat()
    if (mail) await mailHeads(own, mail, zone, clock()).catch(trouble)
    hourDone = hour
  }

  const loop = startLoop({
    restMs,
    step,
    onTrouble: trouble,
    pause,
    heartbeat: heartbeats?.of('ledger'),
  })
  return {
    wake: loop.wake,
    stop() {
      state.isStopping = true
      return loop.stop()
    },
  }
}
