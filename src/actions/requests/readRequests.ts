import type { Fields } from '../../core/interface/json.ts'
import { malformed } from '../../core/interface/refusal.ts'
import type { RefusedRequest } from '../../core/interface/refusedRequest.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import { findRefusedRequest, listRefusedRequests } from '../../store/requestLog.ts'
import { withSignedRequest } from '../interface/signedRequest.ts'

const defaultLimit = 20
export const maxRequests = 100

type RequestsDeps = Pick<Runtime, 'db' | 'callers' | 'limits' | 'clock'>

// `next`: the cursor for older requests; undefined if there are none.
export type RequestPage = { merchant_id: string; requests: RefusedRequest[]; next: string | undefined }

// The refused requests of a merchant in the mode of its key, newest first. Always signed: they have the merchant's data. A
// deactivated merchant can still read them.
export const readRequests = (runtime: RequestsDeps, sent: Fields, address: string): Promise<RequestPage> =>
  withSignedRequest(
    runtime,
    sent,
    ['after', 'limit'],
    address,
    async ({ caller: { merchant_id, mode }, fields, deadline }) => {
      const limit = readPageSize(fields.limit)
      const db = runtime.db.withQuota('feed').withDeadline(deadline)
      const before = fields.after || undefined
      if (before && !(await findRefusedRequest(db, [merchant_id], before)))
        throw malformed('after', 'must be the value of next in an earlier response, or empty')
      const found = await listRefusedRequests(db, { merchant_id, mode, before, limit: limit + 1 })
      const requests = found.slice(0, limit)
      return {
        merchant_id,
        requests,
        next: found.length > limit ? requests.at(-1)?.request_id : undefined,
      }
    },
  )

function readPageSize(text = ''): number {
  if (text === '') return defaultLimit
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0
  if (limit < 1 || limit > maxRequests) throw malformed('limit', `must be from 1 to ${maxRequests}`)
  return limit
}
