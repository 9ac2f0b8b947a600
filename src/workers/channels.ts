import type { OpenChannels } from '../runtime/channels.ts'
import { type Loop, startLoop } from './loop.ts'

const restMs = 500

// Hears of accounts that were added, set, disabled or enabled by a command or on another node: within a second. It only
// reads, and what it asks has a deadline.
export const startAccountsWatch = (
  { look }: Pick<OpenChannels, 'look'>,
  onTrouble: (error: unknown) => void,
): Loop =>
  startLoop({
    restMs,
    async step() {
      await look()
      return 0
    },
    onTrouble,
  })
