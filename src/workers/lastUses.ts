import type { Heartbeats } from '../runtime/heartbeats.ts'
import type { UsedCredentials } from '../runtime/usedCredentials.ts'
import type { Db } from '../store/db.ts'
import { saveKeyUses, saveSecretUses, writtenEveryMs } from '../store/merchants/lastUses.ts'
import { type Loop, startLoop } from './loop.ts'

const defaultRestMs = 10_000
const maxInOneStatement = 500

type LastUsesOptions = {
  db: Db
  clock(): Date
  keys: UsedCredentials // by merchant_key
  secrets: UsedCredentials // by secret_id
  trouble(error: unknown): void
  restMs?: number
  heartbeats?: Heartbeats
}

// Writes when keys and signing secrets were last used. The first use since the start is written soon, later ones once an
// hour, so that a busy key costs one row version an hour. A node that dies loses the uses of its last hour.
export function startLastUses(options: LastUsesOptions): Pick<Loop, 'stop'> {
  const { clock, trouble, restMs = defaultRestMs, heartbeats } = options
  const db = options.db.withQuota('health')
  const keys = createUses(options.keys, uses =>
    saveKeyUses(
      db,
      uses.map(({ id, ...use }) => ({ ...use, merchant_key: id })),
    ),
  )
  const secrets = createUses(options.secrets, uses =>
    saveSecretUses(
      db,
      uses.map(({ id, ...use }) => ({ ...use, secret_id: id })),
    ),
  )
  const write = async (isLast: boolean) => {
    await keys(clock(), isLast)
    await secrets(clock(), isLast)
  }
  const loop = startLoop({
    restMs,
    step: () => write(false),
    onTrouble: trouble,
    heartbeat: heartbeats?.of('lastUses'),
  })
  return {
    async stop() {
      await loop.stop()
      await write(true).catch(trouble)
    },
  }
}

type Use = { id: string; merchant_id: string; used_at: Date }

// Returns a function that writes what is due: a use that is not written yet, of a credential that was not written for an
// hour. The last call writes all that is not written.
function createUses(used: UsedCredentials, save: (uses: readonly Use[]) => Promise<unknown>) {
  const waiting = new Map<string, Use>()
  const writtenAt = new Map<string, number>()

  return async (now: Date, isLast: boolean) => {
    for (const [id, merchant_id] of used.take()) waiting.set(id, { id, merchant_id, used_at: now })
    const before = now.getTime() - writtenEveryMs
    for (const [id, at] of writtenAt) if (at <= before || at > now.getTime()) writtenAt.delete(id)
    const due = [...waiting.values()].filter(({ id }) => isLast || !writtenAt.has(id))
    for (let from = 0; from < due.length; from += maxInOneStatement) {
      const some = due.slice(from, from + maxInOneStatement).toSorted((a, b) => (a.id < b.id ? -1 : 1))
      await save(some)
      for (const { id } of some) {
        waiting.delete(id)
        writtenAt.set(id, now.getTime())
      }
    }
  }
}
