import { setTimeout as sleep } from 'node:timers/promises'
import type { Pause } from '../../core/databaseClock.ts'
import { endingOf } from '../../core/message/messageTries.ts'
import type { Medium } from '../../core/message/messenger.ts'
import type { Messengers, NamedMessenger } from '../../runtime/messengers.ts'
import { compose, type ComposeTools } from './compose.ts'
import { oneAtATime } from './oneAtATime.ts'
import type { TakenMessage } from './saveDecisions.ts'
import { createResultsLog } from './saveResults.ts'
import { type MessageOutcome, type SeenMessage, seen, sendOne } from './sendOne.ts'
import { type Taking, takeDue } from './takeDue.ts'

const maxUnderWay = 10 // of one medium
const startTimeoutMs = 60_000 // of the lease: what starts later could outlive it

export type SenderOptions = Taking &
  ComposeTools & {
    messengers: Pick<Messengers, 'find'>
    observe(message: SeenMessage): void
    onTrouble(error: unknown): void
    pause?: Pause
    wake(medium: Medium): void // there is room again where there was none
  }

export type Sender = {
  step(medium: Medium): Promise<number> // takes what is due and can start now; gives back how many
  underWay(medium: Medium): number
  finished(): Promise<void> // what is under way has ended
  stop(patienceMs: number): Promise<void> // the same, or it is left to its lease
}

// Sends messages to people. Each medium has slots of its own, so that a slow mail server holds up no SMS. All
// statements go one after the other: however many messages there are, they never take more than one connection from
// those who carry notifications, and nobody in this process counts while another takes the last place under a cap.
export function createSender(options: SenderOptions): Sender {
  const { db, clock, random, messengers, observe, onTrouble, pause, wake } = options
  const inTurn = oneAtATime()
  const results = createResultsLog(db, inTurn)
  const going: Record<Medium, Set<Promise<void>>> = { sms: new Set(), email: new Set() }

  async function step(medium: Medium) {
    const room = maxUnderWay - going[medium].size
    if (room <= 0) return 0
    const named = messengers.find(medium)
    const began = performance.now()
    const taken = await inTurn(() => takeDue(options, medium, named?.name, room))
    for (const { message, state, words } of taken.ended)
      observe(seen(message, state === 'sent' ? 'kept' : 'dropped', words))
    // Without knowing what time it is, nobody knows whose they are: their lease will run out.
    const isLate = performance.now() - began > startTimeoutMs || pause?.() !== undefined
    if (named && !isLate) for (const message of taken.toSend) start(named, message)
    return taken.found
  }

  function start(named: NamedMessenger, message: TakenMessage) {
    const { medium } = message
    const carried = carry(named, message).catch(onTrouble)
    going[medium].add(carried)
    void carried.then(() => {
      const wasFull = going[medium].size >= maxUnderWay
      going[medium].delete(carried)
      if (wasFull) wake(medium)
    })
  }

  async function carry({ name, messenger }: NamedMessenger, message: TakenMessage) {
    const { merchant_id, message_id, lease_token, payment } = message
    const write = () => inTurn(() => compose(options, message, payment))
    const sent = await sendOne(messenger, write)
    const ending = endingOf(message, sent, clock(), random())
    const isSent = ending.state === 'sent'
    const result = { merchant_id, message_id, lease_token, ...ending, messenger: isSent ? name : null }
    if (await results.save({ ...result, unanswered: 0, under_way: false }))
      observe(seen(message, outcomes[ending.state], ending.words))
  }

  return {
    step,
    underWay: medium => going[medium].size,
    finished: async () => void (await Promise.all([...going.sms, ...going.email])),
    async stop(patienceMs) {
      results.stop()
      const patience = new AbortController()
      const over = sleep(patienceMs, undefined, { signal: patience.signal }).catch(() => {})
      await Promise.race([Promise.all([...going.sms, ...going.email]), over])
      patience.abort()
    },
  }
}

const outcomes: Record<'queued' | 'sent' | 'delivered' | 'dropped', MessageOutcome> = {
  queued: 'later',
  sent: 'sent',
  delivered: 'sent',
  dropped: 'dropped',
}
