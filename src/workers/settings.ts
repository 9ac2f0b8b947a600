import { type OnUnreadable, unreadableMerchants } from '../actions/merchants/setMerchant.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { type Loop, startLoop } from './loop.ts'

const restMs = 10 * 60_000

// Reports every ten minutes which merchants have settings that cannot be read. Other work skips these merchants silently.
export const startSettingsWatch = (
  { db }: Pick<Runtime, 'db'>,
  onUnreadable: OnUnreadable,
  onTrouble: (error: unknown) => void,
): Loop =>
  startLoop({
    restMs,
    async step() {
      const found = await unreadableMerchants(db)
      if (found.length > 0) onUnreadable(found)
      return 0
    },
    onTrouble,
  })
