import { createOutbound } from '../../src/net/outbound.ts'
import { givenMasterKeys } from '../../src/start/masterKeys.ts'
import { openDb } from '../../src/store/db.ts'
import { createSignerCache } from '../../src/workers/deliveries/signerCache.ts'
import { startDeliveries } from '../../src/workers/deliveries/worker.ts'
import { random } from '../support/random.ts'

// Carries notifications as a gateway does, and does nothing else: a process that is cheap to start, to be killed often.
const { DATABASE_URL = '', TOLLGATE_MASTER_KEY = '' } = process.env
const db = openDb(DATABASE_URL, 2)
const clock = () => new Date()
const outbound = createOutbound()
let tried = 0

const deliveries = startDeliveries({
  db,
  clock,
  outbound,
  random,
  signers: createSignerCache(db, givenMasterKeys([Buffer.from(TOLLGATE_MASTER_KEY, 'hex')]), clock),
  loopback: () => true,
  watch: { tried: () => void tried++, exhausted() {}, passwordWithheld() {}, trouble() {} },
})

process.send?.('ready')
process.on('message', (word: 'tried' | 'taken' | 'firstTried' | { pauseMs: number }) => {
  if (word === 'taken') return when(() => deliveries.inFlight() > 0)
  if (word === 'firstTried') return when(() => tried > 0)
  // Nothing runs, not even timers, and what comes over the network waits: as on a machine that is paused.
  if (word !== 'tried') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, word.pauseMs)
  process.send?.(tried)
})
function when(isSo: () => boolean) {
  if (isSo()) process.send?.(tried)
  else setTimeout(when, 2, isSo)
}

process.on('disconnect', () => process.exit()) // the test is gone
process.on('SIGTERM', () => {
  void (async () => {
    await deliveries.stop()
    await outbound.close()
    await db.end()
    process.exit()
  })()
})
