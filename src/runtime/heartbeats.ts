// Whether the workers of this process run. Each loop reports when a step begins and how long it rests, so that one that
// hangs is told from one that has nothing to do, whether it looks for work every half second or every hour.
export const workerNames = [
  'accounts', // provider accounts that were changed
  'attempts',
  'clock',
  'deliveries',
  'dueChecks',
  'email',
  'expiry',
  'installation', // whether the database is a copy
  'lastUses', // of keys and secrets
  'ledger', // and the seals of the audit log
  'merchantSettings', // that cannot be read
  'node', // wake-ups, and the leases of nodes that died
  'nodeHeartbeat',
  'nodeMinutes',
  'oldMessages', // are removed, as the next two
  'oldRequests',
  'oldTries',
  'overdueAttempts',
  'providerHealth',
  'redaction',
  'refunds',
  'requestLog',
  'reschedule',
  'sms',
  'userMails',
] as const
export type WorkerName = (typeof workerNames)[number]

export type Heartbeat = {
  beat(): void // a step begins, or goes on
  rests(ms: number): void
  isSilent(): void // it pauses, or has stopped
}

export type Heartbeats = {
  of(worker: WorkerName): Heartbeat
  // For how long the present step of a worker has been running, or its next one is late. One that pauses is not in it.
  overdueMs(): ReadonlyMap<WorkerName, number>
}

export function createHeartbeats(monotonicMs = () => performance.now()): Heartbeats {
  const expectedAt = new Map<WorkerName, number>()
  return {
    of: worker => ({
      beat: () => void expectedAt.set(worker, monotonicMs()),
      rests: ms => void expectedAt.set(worker, monotonicMs() + ms),
      isSilent: () => void expectedAt.delete(worker),
    }),
    overdueMs: () =>
      new Map([...expectedAt].map(([worker, at]) => [worker, Math.max(0, monotonicMs() - at)] as const)),
  }
}
