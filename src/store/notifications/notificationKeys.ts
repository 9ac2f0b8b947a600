import type { NotificationKey } from '../../core/notification/notification.ts'

// Column by column, for statements about many.
export const keysOf = (keys: readonly NotificationKey[]) => ({
  merchants: keys.map(key => key.merchant_id),
  references: keys.map(key => key.tx_reference),
  sequences: keys.map(key => key.sequence),
})
