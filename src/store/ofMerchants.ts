import { sql } from './db.ts'

// Beside the keys of many rows, for every table that is looked into: a sharded database then asks only the shards of
// these merchants, because it does not look into lists of keys. The collation changes nothing about what is equal. It
// keeps PostgreSQL from taking the list for the way to the rows, which are found by their keys: it would reckon with one
// look for each merchant and key, and rather read the whole table.
export const ofMerchants = (table: string, keys: readonly { merchant_id: string }[]) =>
  sql`${sql([table])}.merchant_id collate "C" = any(${[...new Set(keys.map(key => key.merchant_id))]}::text[])`
