import { randomInt } from 'node:crypto'
import { beatMs, emptyRoll, forget, look, nodeOfToken, sureMs, tokenOf } from '../../core/nodes.ts'
import { newLeaseToken } from '../../runtime/ids.ts'
import { isWakeable, type Wakeable } from '../../runtime/wakeUps.ts'
import type { Db } from '../../store/db.ts'
import type { NodeSession } from '../../store/nodeSession.ts'
import { endLeasesOf, nodesWithLeases } from '../../store/notifications/deliveries.ts'
import { startLoop } from '../loop.ts'
import { CannotListen, openListener } from './listener.ts'
import { spaced } from './spaced.ts'

const firstPauseMs = 100
const longestPauseMs = 1000
const deafPauseMs = 600_000
const numbers = 2 ** 31

// What the operator hears of it.
export type NodeWatch = {
  deaf(): void
  gone(node: number, leases: number): void // one was killed, and this is what it had in its hands
}

export type NodeOptions = { db: Db; clock(): Date; onWakeUp(who: Wakeable): void; watch: NodeWatch }

export type Leases = {
  token(): string // of a new lease: one that ends with this process, where others can see that it is there
  isOurs(token: string): boolean // whether nobody can have ended it meanwhile
  confirm(token: string): Promise<boolean> // the same, by another look where the last one is too old
}
export type Node = Leases & {
  sendWakeUp(who: Wakeable): void
  count(): number // of those that are there, this one among them; 1 where nobody can be seen
  stop(): Promise<void>
}

// This process among the others on the database: it tells them that there is work, hears them, and is seen to be there.
// All of it may fail without harm: then work is found by looking, and a lease has only its time.
export function startNode({ db, clock, onWakeUp: hear, watch }: NodeOptions): Node {
  let number = randomInt(1, numbers)
  let line: NodeSession | undefined
  let roll = emptyRoll
  let sureUntil = -Infinity
  let pauseMs = firstPauseMs
  let isDeaf = false
  let isStopped = false
  let leftBehind: readonly number[] = []
  let present: readonly number[] = []
  const doubtful: ((isSo: boolean) => void)[] = []
  const heard = spaced<Wakeable>(all => all.forEach(hear))
  const hint = spaced<Wakeable>(all => line?.say(all.join(' ')))

  const isSure = () => performance.now() < sureUntil
  const isOurs = (token: string) => {
    const node = nodeOfToken(token)
    return node === undefined || (node === number && isSure())
  }

  async function step() {
    const isAnew = !line?.isOpen()
    if (isAnew) await connect()
    const asked = performance.now()
    present = (await line?.present()) ?? []
    if (!present.includes(number)) throw new Error('our lock is not there')
    sureUntil = asked + sureMs
    answer(true)
    pauseMs = firstPauseMs
    const seen = look(roll, { present, leftBehind, isAnew }, asked)
    roll = seen.roll
    leftBehind = []
    for (const one of seen.gone) await tidyUp(one)
    return 0
  }

  // Whoever was held up for long asks once more: while the connection is the same, the lock was always there.
  const answer = (isSo: boolean) => doubtful.splice(0).forEach(hearIt => hearIt(isSo))

  async function connect() {
    answer(false)
    // The others may have given up the one that it was: what was its is ours no more.
    if (!isSure()) number = randomInt(1, numbers)
    line = await openListener(db, number, words => words.split(' ').filter(isWakeable).forEach(heard))
    isDeaf = false
    leftBehind = await nodesWithLeases(db, clock()) // of those who died while nobody looked
  }

  async function tidyUp(gone: number) {
    const ended = await endLeasesOf(db, gone, clock())
    roll = forget(roll, gone)
    if (ended > 0) watch.gone(gone, ended)
    if (ended > 0) hear('senders')
  }

  // Whatever it was, a new connection is the cure.
  function onTrouble(error: unknown) {
    answer(false)
    void line?.close().catch(() => {})
    line = undefined
    pauseMs = Math.min(pauseMs * 2, longestPauseMs)
    if (!(error instanceof CannotListen)) return
    if (!isDeaf) watch.deaf()
    isDeaf = true
  }

  const restMs = () => (line ? beatMs : isDeaf ? deafPauseMs : pauseMs)
  const loop = startLoop({ restMs, step, onTrouble })
  return {
    token: () => (isSure() ? tokenOf(number, newLeaseToken()) : newLeaseToken()),
    isOurs,
    confirm(token) {
      if (isOurs(token) || isStopped || nodeOfToken(token) !== number) return Promise.resolve(isOurs(token))
      loop.wake()
      return new Promise(resolve => void doubtful.push(resolve))
    },
    sendWakeUp: hint,
    count: () => Math.max(1, present.length),
    async stop() {
      isStopped = true
      await loop.stop()
      answer(false)
      await line?.close().catch(() => {})
    },
  }
}
