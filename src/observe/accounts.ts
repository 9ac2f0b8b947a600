import type { Logger } from 'pino'
import type { OnFault } from '../runtime/providers/storedAccounts.ts'

// Told when an account is read, so once for each change of it.
export const watchAccounts =
  (log: Logger): OnFault =>
  ({ account, provider: provider_account, mode, merchant_id, fault }) =>
    log.warn(
      { account, provider: provider_account, mode, merchant_id, why: fault },
      'an account cannot be opened: tollgate provider list shows it',
    )
