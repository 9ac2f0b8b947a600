import { afterAll, beforeAll, expect, test } from 'vitest'
import { openOneServer } from '../torture/database.ts'
import { readEvidence } from '../torture/evidence.ts'
import { faults, sortOut } from '../torture/faults/list.ts'
import { type Installation, openInstallation } from '../torture/installation.ts'
import { startLoad } from '../torture/load.ts'
import { faultTable, timesTable, verdict, violationText } from '../torture/report.ts'
import { type Measured, runRound } from '../torture/rounds.ts'

// The short form of `npm run torture`: each fault once, briefly, and several in one round, so that little time is spent on
// waiting until everything is done. The times to serve again are printed and not asserted.
const seeds = [20_261_119, 7, 4_711]
const allowedMs = 1_200_000 // on a starved machine; else it takes about three minutes

let installation: Installation

beforeAll(async () => {
  installation = await openInstallation(await openOneServer({ forAllFaults: true }))
}, 300_000)
afterAll(() => installation.stop(), 120_000)

test(
  'every fault under load: nothing acknowledged is lost, nothing is charged twice, no history is illegal',
  async () => {
    const { possible, skipped } = sortOut(faults, installation)
    for (const { fault, needs } of skipped) console.warn(`SKIPPED: ${fault.name} needs ${needs}`)
    const load = startLoad(installation, seeds[0] ?? 0)
    const measured: Measured[] = []
    for (const [n, seed] of seeds.entries()) {
      const ofRound = possible.filter((_, at) => at % seeds.length === n)
      const plan = { seed, faults: ofRound, isLong: false }
      const violations = await runRound(installation, load, plan, () => {}, measured)
      const names = ofRound.map(({ name }) => name).join(', ')
      expect(violationText(violations), `round ${n + 1}: ${names}: ${verdict(violations)}`).toBe('')
    }
    const evidence = await readEvidence(installation, load)
    const rounds = new Map(possible.map(({ name }) => [name, 1]))
    const totals = { evidence, load, rounds, measured }
    console.log(`${faultTable(totals)}\n\n${timesTable(totals)}`)
    const counts = {
      acknowledged: load.sales.filter(({ references }) => references.length > 0).length,
      refused: load.sales.filter(({ refused }) => refused).length,
      charges: evidence.orders.reduce((sum, { charges }) => sum + charges, 0),
      refunds: evidence.orders.reduce((sum, { refunds }) => sum + refunds.length, 0),
      notifications: evidence.received.length,
    }
    for (const [what, count] of Object.entries(counts)) expect(count, what).toBeGreaterThan(0)
  },
  allowedMs,
)
