import { type OnUnreadable, unreadableMerchants } from '../actions/merchants/setMerchant.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { type Loop, startLoop } from './loop.ts'

const restMs = 10 * 60_000

// Says now and then whose settings cannot be read. Apart from the work that they are read for, which goes on.
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
