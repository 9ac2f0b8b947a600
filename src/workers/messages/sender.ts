import { setTimeout as sleep } from 'node:timers/promises'
import { compose, type ComposeTools } from '../../actions/messages/compose.ts'
import type { Pause } from '../../core/databaseClock.ts'
import type { Message } from '../../core/message/message.ts'
import { applyResult } from '../../core/message/messageTries.ts'
import type { Medium, Messenger, OutboundMessage, SendResult } from '../../core/message/messenger.ts'
import { cleanError } from '../../core/text.ts'
import type { Messengers, NamedMessenger } from '../../runtime/messengers.ts'
import { createResultsLog } from './saveResults.ts'
import { takeDue, type TakenMessage, type TakeTools } from './takeDue.ts'

const maxInFlight = 10 // of one medium
const startTimeoutMs = 60_000 // a message that starts later could outlive its lease
const maxReason = 1000

export type SenderOptions = TakeTools &
  ComposeTools & {
    messengers: Pick<Messengers, 'find'>
    observe(message: ObservedMessage): void
    onTrouble(error: unknown): void
    pause?: Pause
    wake(medium: Medium): void // a slot is free again after all were taken
  }

type Sender = {
  step(medium: Medium): Promise<number> // starts due messages as far as slots are free; returns how many it took
  underWay(medium: Medium): number
  finished(): Promise<void> // all started messages have ended
  stop(maxMs: number): Promise<void> // the same, or the rest is left to the lease
}

// Sends due messages. Each medium has its own slots, so that a slow mail server delays no SMS. All statements run one
// after the other: messages never take more than one connection from the deliveries, and no two takes of this process
// count the same place under a cap.
export function createSender(options: SenderOptions): Sender {
  const { db, clock, random, messengers, observe, onTrouble, pause, wake } = options
  const inTurn = oneAtATime()
  const results = createResultsLog(db, inTurn)
  const inFlight: Record<Medium, Set<Promise<void>>> = { sms: new Set(), email: new Set() }
  const allEnded = () => Promise.all([...inFlight.sms, ...inFlight.email])

  async function step(medium: Medium) {
    const freeSlots = maxInFlight - inFlight[medium].size
    if (freeSlots <= 0) return 0
    const named = messengers.find(medium)
    const startedAt = performance.now()
    const taken = await inTurn(() => takeDue(options, medium, named?.name, freeSlots))
    for (const { message, state, words } of taken.ended)
      observe(observedMessage(message, state === 'sent' ? 'kept' : 'dropped', words))
    // Without a valid clock it is unknown whether the leases still hold, so the messages are left to them.
    const isLate = performance.now() - startedAt > startTimeoutMs || pause?.() !== undefined
    if (named && !isLate) for (const message of taken.toSend) start(named, message)
    return taken.found
  }

  function start(named: NamedMessenger, message: TakenMessage) {
    const { medium } = message
    const done = sendAndSave(named, message).catch(onTrouble)
    inFlight[medium].add(done)
    void done.then(() => {
      const wasFull = inFlight[medium].size >= maxInFlight
      inFlight[medium].delete(done)
      if (wasFull) wake(medium)
    })
  }

  async function sendAndSave({ name, messenger }: NamedMessenger, message: TakenMessage) {
    const { merchant_id, message_id, lease_token, payment } = message
    const result = await sendOnce(messenger, () => inTurn(() => compose(options, message, payment)))
    const update = applyResult(message, result, clock(), random())
    const key = { merchant_id, message_id, lease_token }
    const usedMessenger = update.state === 'sent' ? name : null
    if (await results.save({ ...key, ...update, messenger: usedMessenger, unanswered: 0, under_way: false }))
      observe(observedMessage(message, outcomes[update.state], update.words))
  }

  return {
    step,
    underWay: medium => inFlight[medium].size,
    finished: async () => void (await allEnded()),
    async stop(maxMs) {
      results.stop()
      const timeout = new AbortController()
      const isOver = sleep(maxMs, undefined, { signal: timeout.signal }).catch(() => {})
      await Promise.race([allEnded(), isOver])
      timeout.abort()
    },
  }
}

// An exception is no reply of the network, so the message is retried.
async function sendOnce(
  messenger: Messenger,
  composeText: () => Promise<OutboundMessage | undefined>,
): Promise<SendResult> {
  try {
    const message = await composeText()
    if (!message)
      return {
        state: 'rejected',
        reason: 'The payment or the exhausted notifications do not exist any more.',
      }
    return await messenger.send(message)
  } catch (error) {
    return { state: 'retry', reason: cleanError(error, maxReason) }
  }
}

// Runs tasks one after the other, in the order of the calls. A failed task does not stop the next ones.
function oneAtATime() {
  let last: Promise<unknown> = Promise.resolve()
  return <T>(task: () => Promise<T>): Promise<T> => {
    const done = last.then(task)
    last = done.catch(() => {})
    return done
  }
}

// For the log and the metrics: neither the recipient nor the text.
export type ObservedMessage = Pick<
  Message,
  'merchant_id' | 'message_id' | 'mode' | 'medium' | 'topic' | 'words'
> & { outcome: MessageOutcome }
type MessageOutcome = 'sent' | 'kept' | 'later' | 'dropped' // kept: in the inbox

export function observedMessage(
  message: Omit<ObservedMessage, 'outcome' | 'words'>,
  outcome: MessageOutcome,
  words: string,
): ObservedMessage {
  const { merchant_id, message_id, mode, medium, topic } = message
  return { merchant_id, message_id, mode, medium, topic, words, outcome }
}

const outcomes: Record<Message['state'], MessageOutcome> = {
  queued: 'later',
  sent: 'sent',
  delivered: 'sent',
  dropped: 'dropped',
}
