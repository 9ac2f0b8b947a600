import { sql, type Tx } from './db.ts'

// A word to every node that listens, by any connection. One that a node has for itself says it itself.
export const sendWakeUp = (tx: Tx, words: string) => tx.rows(sql`select pg_notify('tollgate', ${words})`)
