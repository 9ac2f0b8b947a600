import type { OpenedAccount } from '../../runtime/providers/accounts.ts'
import type { AccountSetup } from './addAccount.ts'

// The accounts of this gateway as the operator's pages see them, and what opens and seals new ones.
export type AccountsOfGateway = { accounts(): readonly OpenedAccount[]; setup: AccountSetup }
