// How long it takes to find what is due and to lease it: the statements of the product, undone each time.
import { median } from '../report/figures.js'
import { thisVersion } from '../version.js'

const times = 40
const firstOnes = 5 // not counted: their plans are new
const looked = 1000
const taken = 64 // as many as Tollgate takes at once
const leaseMs = 30_000

export async function claimTimes(url) {
  const [{ openDb }, { findDueDeliveries, takeAlone }] = await thisVersion.load(
    'store/db',
    'store/notifications/deliveries',
  )
  const db = openDb(url, 1, 'bench')
  const lookMs = []
  const takeMs = []
  const once = async tx => {
    const now = new Date()
    const began = performance.now()
    const due = await findDueDeliveries(tx, false, now, looked)
    const between = performance.now()
    await takeAlone(tx, due.slice(0, taken), { token: 'bench', until: new Date(+now + leaseMs), now })
    takeMs.push(performance.now() - between)
    lookMs.push(between - began)
    throw undo
  }
  try {
    for (let n = 0; n < times; n++) await db.transaction(once).catch(ignoreUndo)
  } finally {
    await db.end()
  }
  return { lookMs: median(lookMs.slice(firstOnes)), takeMs: median(takeMs.slice(firstOnes)) }
}

const undo = new Error('undo')
const ignoreUndo = error => {
  if (error !== undo) throw error
}
