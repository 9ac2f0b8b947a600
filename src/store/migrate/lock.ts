import { type Alone, isLockedOut } from './connection.ts'

// Another node has it.
export class LedgerBusy extends Error {}

// Only one node migrates at a time. Readers of the ledger do not meet this lock.
export async function beginAlone(connection: Alone) {
  await connection.ask('begin')
  try {
    await connection.ask('lock table migrations in share update exclusive mode')
  } catch (error) {
    throw isLockedOut(error) ? new LedgerBusy('', { cause: error }) : error
  }
}

export const isApplied = async (connection: Alone, name: string) =>
  (await connection.ask('select from migrations where name = $1', [name])).length > 0

export const noteApplied = (connection: Alone, name: string) =>
  connection.ask('insert into migrations (name) values ($1) on conflict do nothing', [name])
