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

const requestTimeoutMs = 8000
const claimMs = 12_000 // then another node may request a token: the claiming one has died or is too slow
const pollMs = 100 // while another node requests a token
const renewBeforeMs = 60_000 // before a token expires
const longestLifetimeMs = 30 * 24 * 3_600_000

type Deps = { db: Db; masterKeys: MasterKeys; clock(): Date }
type TokenQuery = { make: Parameters<SharedToken>[0]; refused: string | undefined }

// Tokens that all nodes share through the database: one for each account, requested by one node at a time. The provider is
// called outside of any transaction. The claim of a node that dies meanwhile expires. If a token was issued and not stored,
// it has invalidated the former one: the provider refuses that, and a new one is requested.
export const createSharedTokens = (deps: Deps) => ({
  of(account: string, values: ProviderSettings): SharedToken {
    const holder = { provider_account: account, settings: digestOf(values) }
    let known: StoredToken = { token: undefined, made_at: null, expires_at: null }
    let finding: { work: Promise<string>; refused: string | undefined } | undefined

    async function find(query: TokenQuery): Promise<string> {
      const deadline = performance.now() + claimMs + requestTimeoutMs
      const bounded = { ...deps, db: deps.db.withDeadline(deadline) }
      while (performance.now() < deadline) {
        known = await findToken(bounded.db, bounded.masterKeys, holder)
        if (isUsable(known, query.refused, deps.clock())) return known.token
        const made = await requestNext(bounded, holder, known, query.make)
        if (made) return (known = made).token
        await sleep(pollMs)
      }
      throw new Error('no token: another node is requesting one')
    }

    // Concurrent callers on this node share one search. It continues if a caller stops waiting.
    return (make, signal, refused) => {
      if (isUsable(known, refused, deps.clock())) return Promise.resolve(known.token)
      if (!finding || finding.refused !== refused) {
        const work = find({ make, refused })
        const started = { work, refused }
        finding = started
        void work.catch(() => {}).then(() => (finding = finding === started ? undefined : finding))
      }
      return untilAborted(finding.work, signal)
    }
  },
})

// A token of other settings may belong to another wallet.
const digestOf = (values: ProviderSettings) =>
  hash('sha256', JSON.stringify(Object.entries(values).toSorted(byName)), 'hex')
const byName = ([one]: [string, unknown], [other]: [string, unknown]) => (one < other ? -1 : 1)

type KnownToken = StoredToken & { token: string }

const isUsable = (stored: StoredToken, refused: string | undefined, now: Date): stored is KnownToken =>
  stored.token !== undefined &&
  stored.token !== refused &&
  stored.expires_at !== null &&
  stored.expires_at > now

// Undefined if another node has claimed it.
async function requestNext(
  { db, masterKeys, clock }: Deps,
  holder: TokenHolder,
  { made_at: formerMadeAt }: StoredToken,
  make: TokenQuery['make'],
): Promise<KnownToken | undefined> {
  const maker = newLeaseToken()
  const now = clock()
  const claim = { maker, formerMadeAt, now, until: new Date(now.getTime() + claimMs) }
  if (!(await claimToken(db, holder, claim))) return undefined
  try {
    const token = await withinDeadline(make, timerOf(requestTimeoutMs), 'no token in time')
    const made = timesOf(token, clock(), formerMadeAt)
    const isSaved = await saveToken(db, masterKeys, holder, { maker, ...made })
    return isSaved ? { token: made.token, made_at: made.now, expires_at: made.expires_at } : undefined
  } catch (error) {
    await releaseToken(db, holder, maker).catch(() => {})
    throw error
  }
}

// `made_at` identifies a token, so two tokens never have the same time.
function timesOf({ token, lifetimeMs }: Token, clock: Date, formerMadeAt: Date | null) {
  const now = formerMadeAt && formerMadeAt >= clock ? new Date(formerMadeAt.getTime() + 1) : clock
  const boundedMs = Number.isFinite(lifetimeMs) ? Math.min(Math.max(lifetimeMs, 0), longestLifetimeMs) : 0
  const usableMs = Math.max(boundedMs / 2, boundedMs - renewBeforeMs)
  return { token, now, expires_at: new Date(clock.getTime() + usableMs) }
}

function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () =>
      reject(signal.reason instanceof Error ? signal.reason : new Error('no caller waits for the token'))
    if (signal.aborted) return giveUp()
    signal.addEventListener('abort', giveUp, { once: true })
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp))
  })
}
