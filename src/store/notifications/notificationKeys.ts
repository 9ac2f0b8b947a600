import type { NotificationKey } from '../../core/notification/notification.ts'
import { integers, texts } from '../arrays.ts'

// Column by column, for statements about many.
export const keysOf = (keys: readonly NotificationKey[]) => ({
  merchants: texts(keys.map(key => key.merchant_id)),
  references: texts(keys.map(key => key.tx_reference)),
  sequences: integers(keys.map(key => key.sequence)),
})
