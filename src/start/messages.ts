import type { Heartbeats } from '../runtime/heartbeats.ts'
import type { Logger } from 'pino'
import { countQueuedMessages } from '../actions/messages/queueMessages.ts'
import type { CanSend } from '../actions/messages/receipts.ts'
import { type Config, ConfigError } from '../config.ts'
import type { Pause } from '../core/databaseClock.ts'
import { isReachable, type MessageRules } from '../core/message/messageRules.ts'
import type { Medium } from '../core/message/messenger.ts'
import { gaugeMessages, watchMessages } from '../observe/messages.ts'
import type { Metrics } from '../observe/metrics.ts'
import type { GatedWork } from '../runtime/dueWork.ts'
import type { Inbox, LocalWorkers } from '../runtime/localWorkers.ts'
import { type Messengers, openMessengers } from '../runtime/messengers.ts'
import { faultsIn } from '../runtime/settingFaults.ts'
import type { Db, Tx } from '../store/db.ts'
import { hasLiveKey } from '../store/merchants/credentials.ts'
import type { CustomerMessage } from '../store/messages/messages.ts'
import { createReceipts } from '../workers/messages/receipts.ts'
import { observedMessage } from '../workers/messages/sender.ts'
import { startMessages } from '../workers/messages/worker.ts'

type OpenMessages = Pick<Messengers, 'configured' | 'find'> & {
  carries: CanSend
  wake(): void
  stop(): Promise<void>
}
type MessagesDeps = {
  db: Db
  localWorkers: LocalWorkers
  clock(): Date
  pause?: Pause
  work?: GatedWork
  heartbeats?: Heartbeats
  baseUrl(): string
  metrics: Metrics
  log: Logger
}

export const messageRules = (config: Config): MessageRules => ({
  smsPrefixes: config.TOLLGATE_SMS_PREFIXES,
  perRecipient: config.TOLLGATE_MESSAGES_PER_RECIPIENT,
  perMerchant: config.TOLLGATE_MESSAGES_PER_MERCHANT,
})

const isDue = ({ created_at, next_try_at }: CustomerMessage) =>
  next_try_at !== null && next_try_at <= created_at

// Opens the configured messengers and starts the workers that send messages and save their receipts.
export async function openMessages(
  config: Config,
  { db, localWorkers, clock, pause, work, heartbeats, baseUrl, metrics, log }: MessagesDeps,
): Promise<OpenMessages> {
  const { observe, receipt, trouble } = watchMessages(metrics, log)
  const receipts = createReceipts({ db, clock, observe: receipt, onTrouble: trouble })
  const messengers = await openMessengers(config.messengerSettings, {
    clock,
    receive: receipts.receive,
    pause,
    warn: reason => log.warn({ why: reason }, 'a messenger reports an error'),
  }).catch((error: unknown) => {
    throw new ConfigError(faultsIn(error))
  })
  try {
    for (const warning of await warnWithoutMessenger(db, messengers)) log.warn(warning)
  } catch (error) {
    await messengers.close()
    await receipts.stop()
    throw error
  }
  const messages = startMessages({
    db,
    clock,
    pause,
    work,
    heartbeats,
    baseUrl,
    messengers,
    random: Math.random,
    rules: messageRules(config),
    observe,
    onTrouble: trouble,
  })
  const reaches = (medium: Medium, recipient: string) =>
    isReachable(medium, recipient, config.TOLLGATE_SMS_PREFIXES)
  // A message that waits first may still be replaced by one about a later status, so it does not go to the inbox yet.
  const keeps: Inbox['keeps'] = message =>
    isDue(message) && !messengers.configured(message.medium) && reaches(message.medium, message.recipient)
  localWorkers.inbox = {
    keeps,
    written(all) {
      for (const message of all.filter(keeps)) observe(observedMessage(message, 'kept', ''))
      if (all.some(message => isDue(message) && !keeps(message))) messages.wake()
    },
  }
  gaugeMessages(metrics, () => countQueuedMessages(db, clock()))
  return {
    configured: messengers.configured,
    find: messengers.find,
    carries: (medium, recipient) => messengers.configured(medium) && reaches(medium, recipient),
    wake: messages.wake,
    async stop() {
      localWorkers.inbox = undefined
      await messages.stop()
      await messengers.close()
      await receipts.stop()
    },
  }
}

export const mediumNames: Record<Medium, string> = { sms: 'SMS', email: 'email' }

// A warning for an operator who takes real money: some customers get no messages.
export async function warnWithoutMessenger(
  db: Tx,
  messengers: Pick<Messengers, 'configured'>,
): Promise<string[]> {
  const missing = (['sms', 'email'] as const).filter(medium => !messengers.configured(medium))
  if (missing.length === 0 || !(await hasLiveKey(db))) return []
  return missing.map(
    medium =>
      `Customers get no ${mediumNames[medium]}: no messenger is set up for it. What they would get is at /inbox.`,
  )
}
