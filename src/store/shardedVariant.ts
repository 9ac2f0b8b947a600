import { isUnsupported } from './databaseErrors.ts'

// Tables that Citus has as a reference on every worker, such as merchants, cannot be joined with the first rows of each of
// them: it refuses a LIMIT in a lateral subquery there. On one server such a statement reads the front of an index for each
// merchant. The variant for shards groups by merchant_id instead, and may read more rows. Not in a transaction, which a
// refused statement ends.
export async function withShardedVariant<T>(
  statement: () => Promise<T>,
  onShards: () => Promise<T>,
): Promise<T> {
  try {
    return await statement()
  } catch (error) {
    if (!isUnsupported(error)) throw error
    return onShards()
  }
}
