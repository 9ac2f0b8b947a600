import type { Logger } from 'pino'
import type { OnFault } from '../runtime/channels/storedAccounts.ts'

// Told when an account is read, so once for each change of it.
export const watchAccounts =
  (log: Logger): OnFault =>
  ({ account, channel, mode, merchant_id, fault }) =>
    log.warn(
      { account, channel, mode, merchant_id, why: fault },
      'an account cannot be opened: tollgate channel list shows it',
    )
