import { hash } from 'node:crypto'

// What an account is called in the address that its provider calls back at: some refuse addresses that have their own name in
// them. It is no secret, and stays the same for as long as the account has its name.
export const webhookIdOf = (account: string) => hash('sha256', `webhook of ${account}`, 'hex').slice(0, 24)
