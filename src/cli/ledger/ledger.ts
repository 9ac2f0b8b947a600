import type { CliCommand } from '../cliCommand.ts'
import { addLedgerBalance } from './balance.ts'
import { addLedgerStatement } from './statement.ts'
import { addLedgerVerify } from './verify.ts'

export function addLedgerCommands(program: CliCommand) {
  const ledger = program
    .command('ledger')
    .description('Show and check the ledger: what is owed to merchants, and where the money is.')
    .examples('tollgate ledger balance', 'tollgate ledger verify')
  addLedgerBalance(ledger)
  addLedgerStatement(ledger)
  addLedgerVerify(ledger)
}
