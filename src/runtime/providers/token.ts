import { hash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ProviderSettings, SharedToken, Token } from '../../core/provider/provider.ts'
import {
  claimToken,
  findToken,
  releaseToken,
  type StoredToken,
  saveToken,
  type TokenHolder,
} from '../../store/providers/tokens.ts'
import type { Db } from '../../store/db.ts'
import type { MasterKeys } from '../../store/merchants/vault.ts'
import { timerOf, withinDeadline } from '../deadline.ts'
import { newLeaseToken } from '../ids.ts'

const makeMs = 8000 // for the provider to give one
const claimMs = 12_000 // then another may try: who makes it has died, or its answer comes too late to count
const lookGapMs = 100 // while another node makes it
const spareMs = 60_000 // before the end a new one is made
const longestMs = 30 * 24 * 3_600_000

type Deps = { db: Db; masterKeys: MasterKeys; clock(): Date }
type Asked = { make: Parameters<SharedToken>[0]; refused: string | undefined }

// The tokens of accounts, by name: one for all nodes, made by one at a time. The provider is asked outside of any
// transaction. Who dies while asking leaves a claim that ends by itself; a token that was given and never written down has
// ended the one before, so that is refused next, and made anew.
export const createSharedTokens = (deps: Deps) => ({
  of(account: string, given: ProviderSettings): SharedToken {
    const holder = { provider_account: account, settings: digestOf(given) }
    let known: StoredToken = { token: undefined, made_at: null, expires_at: null }
    let finding: { work: Promise<string>; refused: string | undefined } | undefined

    async function find(asked: Asked): Promise<string> {
      const deadline = performance.now() + claimMs + makeMs
      const ours = { ...deps, db: deps.db.withDeadline(deadline) }
      while (performance.now() < deadline) {
        known = await findToken(ours.db, ours.masterKeys, holder)
        if (isGood(known, asked.refused, deps.clock())) return known.token
        const made = await makeNext(ours, holder, known, asked.make)
        if (made) return (known = made).token
        await sleep(lookGapMs)
      }
      throw new Error('no token: another node is making one')
    }

    // All in this process who ask at once share one search. Whoever does not wait any more goes, and the search goes on.
    return (make, signal, refused) => {
      if (isGood(known, refused, deps.clock())) return Promise.resolve(known.token)
      if (!finding || finding.refused !== refused) {
        const work = find({ make, refused })
        const ours = { work, refused }
        finding = ours
        void work.catch(() => {}).then(() => (finding = finding === ours ? undefined : finding))
      }
      return untilAborted(finding.work, signal)
    }
  },
})

// What was made with other settings is of no use, and may be of another purse.
const digestOf = (given: ProviderSettings) =>
  hash('sha256', JSON.stringify(Object.entries(given).toSorted(byName)), 'hex')
const byName = ([one]: [string, unknown], [other]: [string, unknown]) => (one < other ? -1 : 1)

type KnownToken = StoredToken & { token: string }

const isGood = (stored: StoredToken, refused: string | undefined, now: Date): stored is KnownToken =>
  stored.token !== undefined &&
  stored.token !== refused &&
  stored.expires_at !== null &&
  stored.expires_at > now

// Undefined where somebody else is at it.
async function makeNext(
  { db, masterKeys, clock }: Deps,
  holder: TokenHolder,
  { made_at: seen }: StoredToken,
  make: Asked['make'],
): Promise<KnownToken | undefined> {
  const maker = newLeaseToken()
  const now = clock()
  const claim = { maker, seen, now, until: new Date(now.getTime() + claimMs) }
  if (!(await claimToken(db, holder, claim))) return undefined
  try {
    const token = await withinDeadline(make, timerOf(makeMs), 'no token in time')
    const made = madeAt(token, clock(), seen)
    const isOurs = await saveToken(db, masterKeys, holder, { maker, ...made })
    return isOurs ? { token: made.token, made_at: made.now, expires_at: made.expires_at } : undefined
  } catch (error) {
    await releaseToken(db, holder, maker).catch(() => {})
    throw error
  }
}

// Two are never made at the same moment: that tells them apart.
function madeAt({ token, lifetimeMs }: Token, clock: Date, seen: Date | null) {
  const now = seen && seen >= clock ? new Date(seen.getTime() + 1) : clock
  const livesMs = Number.isFinite(lifetimeMs) ? Math.min(Math.max(lifetimeMs, 0), longestMs) : 0
  const usableMs = Math.max(livesMs / 2, livesMs - spareMs)
  return { token, now, expires_at: new Date(clock.getTime() + usableMs) }
}

function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(signal.reason instanceof Error ? signal.reason : new Error('nobody waits'))
    if (signal.aborted) return giveUp()
    signal.addEventListener('abort', giveUp, { once: true })
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp))
  })
}
