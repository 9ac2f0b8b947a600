import { wrongFeedTexts } from '../../core/interface/diagnosis/wrongFeedTexts.ts'
import { malformed, missing } from '../../core/interface/refusal.ts'
import { feedString, isInGrace, readFeedSignature } from '../../core/interface/signature.ts'
import type { CallerLookup } from '../../runtime/callerCache.ts'
import { databaseDeadline, inTime } from '../../runtime/deadline.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import type { Caller } from '../../store/merchants/callers.ts'
import {
  endOfFeed,
  type Feed,
  type FeedEvent,
  numberFeed,
  oldestKept,
  readFeed,
} from '../../store/notifications/feed.ts'
import { authenticate, feedRefusal, mustBeReadable, withErrorsAs200 } from './authenticate.ts'

const retentionMs = 30 * 86_400_000
const defaultLimit = 100
export const maxEvents = 500
const numberedAtOnce = 1000 // more than the largest page, so that `more` is right

type FeedDeps = Pick<Runtime, 'db' | 'callers' | 'limits' | 'clock'>

type FeedFields = Partial<Record<'merchant_key' | 'after' | 'limit' | 'secure_hash', unknown>>
export type EventPage = { merchant_id: string; events: FeedEvent[]; next: bigint; more: boolean }

// The events of a merchant after its cursor, the oldest first. They contain its customers' data, so the request is always
// signed, with its time. A deactivated merchant can still read them.
export async function readEvents(
  runtime: FeedDeps,
  fields: FeedFields,
  signature: string | undefined,
  address: string,
): Promise<EventPage> {
  const texts = textFields(fields)
  const { merchant_key, after = '' } = texts
  if (!merchant_key) throw missing('merchant_key')
  if (!signature) runtime.limits.guess(address)
  const deadline = databaseDeadline()
  const found = await runtime.callers.find(merchant_key)
  return withErrorsAs200(found.caller, async () => {
    if (found.caller) mustBeReadable(found.caller, 'feed')
    const signed = { ...texts, merchant_key, after, signature }
    const { merchant_id, mode } = await inTime(deadline, authenticateFeed(runtime, found, signed, address))
    const limit = readLimit(texts.limit)
    const since = new Date(runtime.clock().getTime() - retentionMs)
    const db = runtime.db.withQuota('feed').withDeadline(deadline)
    return {
      merchant_id,
      ...(await readPage(db, { merchant_id, mode }, readCursor(after), since, limit)),
    }
  })
}

function textFields(fields: FeedFields): Partial<Record<keyof FeedFields, string>> {
  for (const [name, value] of Object.entries(fields))
    if (typeof value !== 'string') throw malformed(name, 'must be text')
  return fields as Partial<Record<keyof FeedFields, string>>
}

type SignedFields = {
  merchant_key: string
  after: string
  limit?: string
  secure_hash?: string
  signature?: string
}

async function authenticateFeed(
  runtime: FeedDeps,
  found: CallerLookup,
  { merchant_key, after, limit = '', ...sent }: SignedFields,
  address: string,
): Promise<Caller> {
  const now = runtime.clock()
  const signature = readFeedSignature(sent.signature, sent.secure_hash)
  const { t = String(Math.floor(now.getTime() / 1000)), hash } = signature
  const text = feedString(t, merchant_key, after, limit)
  const parts = { t, merchant_key, after, limit }
  const claim = { merchant_key, strings: [text], hash, wrongTexts: () => wrongFeedTexts(text, parts) }
  const refuse = (known: Caller | undefined) => feedRefusal(runtime, known, claim, signature, now)
  const signer = await authenticate(runtime, found, claim, 'feed', address, () => refuse(found.caller))
  if (!isInGrace(t, now)) {
    runtime.limits.failedLookup(address)
    throw await refuse(signer)
  }
  runtime.limits.request(signer)
  return signer
}

function readCursor(after: string): bigint {
  if (!/^(|0|[1-9]\d{0,17})$/.test(after))
    throw malformed(
      'after',
      'must be a cursor from an earlier response, or empty to start with the oldest event',
    )
  return BigInt(after)
}

function readLimit(text = ''): number {
  if (text === '') return defaultLimit
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0
  if (limit < 1 || limit > maxEvents) throw malformed('limit', `must be from 1 to ${maxEvents}`)
  return limit
}

type Page = Omit<EventPage, 'merchant_id'>

// Takes the lock only if there are events without a number.
async function readPage(
  db: FeedDeps['db'],
  feed: Feed,
  after: bigint,
  since: Date,
  limit: number,
): Promise<Page> {
  const page = await pageAfter(db, feed, after, since, limit)
  if (page.more) return page
  const { position, unnumbered } = await endOfFeed(db, feed, since)
  const end = position ?? 0n
  if (after > end) throw malformed('after', 'is beyond the end of your events: begin again without it')
  if (unnumbered) await numberFeed(db, feed, since, numberedAtOnce)
  else if (page.next === end) return page // otherwise another request has numbered events since
  return pageAfter(db, feed, after, since, limit)
}

async function pageAfter(
  db: FeedDeps['db'],
  feed: Feed,
  after: bigint,
  since: Date,
  limit: number,
): Promise<Page> {
  const isKept = ({ created_at }: FeedEvent) => created_at >= since
  let events = await readFeed(db, feed, after, limit + 1)
  const firstKept = events.findIndex(isKept)
  if (events.length > 0 && firstKept !== 0) {
    const oldest = events[firstKept]?.position ?? (await oldestKept(db, feed, since))
    events = oldest && oldest > after ? await readFeed(db, feed, oldest - 1n, limit + 1) : []
  }
  const page = events.slice(0, limit)
  const next = page.at(-1)?.position ?? after
  return { events: page.filter(isKept), next, more: events.length > limit }
}
