import { createRedaction, type RedactionWatch } from '../actions/redaction/redact.ts'
import type { Pause } from '../core/databaseClock.ts'
import type { Heartbeats } from '../runtime/heartbeats.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { type Loop, startLoop } from './loop.ts'

const restMs = 3_600_000

type RedactionOptions = RedactionWatch & {
  trouble(error: unknown): void
  pause?: Pause
  heartbeats?: Heartbeats
}

// Removes the personal details of payers after the given days. Every node with the setting runs it: rows are locked while
// they are changed.
export function startRedaction(
  { db, clock }: Pick<Runtime, 'db' | 'clock'>,
  days: number,
  { trouble, pause, heartbeats, ...watch }: RedactionOptions,
): Loop {
  const redact = createRedaction(db.withQuota('redact'), days, watch)
  return startLoop({
    restMs,
    step: () => redact(clock()),
    onTrouble: trouble,
    pause,
    heartbeat: heartbeats?.of('redaction'),
  })
}
