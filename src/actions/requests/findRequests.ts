import { type RefusedRequest, storedPerCode } from '../../core/interface/refusedRequest.ts'
import { isRequestId } from '../../runtime/ids.ts'
import type { Db } from '../../store/db.ts'
import { listMerchants } from '../../store/merchants/merchants.ts'
import {
  findRefusedRequest,
  listRefusedRequests,
  type RefusedFilter,
  refusedCountsOf,
} from '../../store/requestLog.ts'

// A refused request with the name of its merchant, for an operator who has its id.
export type FoundRequest = RefusedRequest & { merchant_name: string }

export async function findRequest(db: Db, typed: string): Promise<FoundRequest | undefined> {
  const request_id = typed.trim().toLowerCase()
  if (!isRequestId(request_id)) return undefined
  const names = new Map((await listMerchants(db)).map(({ merchant_id, name }) => [merchant_id, name]))
  const found = await findRefusedRequest(db, [...names.keys()], request_id)
  return found && { ...found, merchant_name: names.get(found.merchant_id) ?? '' }
}

// `notStored`: how many more were refused in the last 30 days, beyond the cap per day and code.
type NewestRequests = { requests: RefusedRequest[]; notStored: number }

export async function newestRequests(db: Db, filter: RefusedFilter): Promise<NewestRequests> {
  const [requests, counts] = await Promise.all([
    listRefusedRequests(db, filter),
    refusedCountsOf(db, filter.merchant_id),
  ])
  const notStored = counts
    .filter(({ mode }) => filter.mode === undefined || mode === filter.mode)
    .reduce((sum, { refused }) => sum + Math.max(0, refused - storedPerCode), 0)
  return { requests, notStored }
}

// One page of a merchant's refused requests, newest first. `next`: the id behind which older ones follow.
export async function pageOfRequests(db: Db, filter: RefusedFilter) {
  const { merchant_id, before, limit } = filter
  const known = before !== undefined && (await findRefusedRequest(db, [merchant_id], before)) !== undefined
  const found = await listRefusedRequests(db, {
    ...filter,
    before: known ? before : undefined,
    limit: limit + 1,
  })
  const requests = found.slice(0, limit)
  return { requests, next: found.length > limit ? requests.at(-1)?.request_id : undefined }
}
