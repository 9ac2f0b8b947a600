import type { ExhaustedFacts } from '../../core/message/messageFacts.ts'
import type { Mode } from '../../core/mode.ts'
import { notificationId } from '../../core/notification/notification.ts'
import type { Tx } from '../../store/db.ts'
import { findMerchant } from '../../store/merchants/merchants.ts'
import { countMerchantExhausted, listExhausted } from '../../store/notifications/notificationList.ts'

const windowMs = 24 * 3_600_000
const maxExamples = 5

// What a merchant's contact is told of the last day; undefined when there is nothing to tell any more.
export async function exhaustedFacts(
  tx: Tx,
  { merchant_id, mode }: { merchant_id: string; mode: Mode },
  now: Date,
  baseUrl: string,
): Promise<ExhaustedFacts | undefined> {
  const from = new Date(now.getTime() - windowMs)
  const { count, since } = await countMerchantExhausted(tx, merchant_id, mode, from)
  const merchant = await findMerchant(tx, merchant_id)
  if (!since || !merchant) return undefined
  const examples = await listExhausted(tx, merchant_id, mode, from, maxExamples)
  return {
    merchant_name: mode === 'test' ? `${merchant.name} (test)` : merchant.name,
    count,
    since,
    examples: examples.map(({ url, last_result, words, ...key }) => ({
      id: notificationId(key),
      url: withoutQuery(url),
      last_result: last_result ?? '',
      words: words ?? '',
    })),
    link: `${baseUrl}/docs`,
  }
}

// What stands behind the question mark may be a secret of the merchant's.
const withoutQuery = (url: string) => url.replace(/[?#].*$/s, '')
