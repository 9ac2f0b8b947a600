// Something is wrong with one of them, and with which the database did not say: each half for itself, until the culprit
// is alone. Gives back how many the others were.
export async function bisectBatch<Key>(
  keys: readonly Key[],
  work: (some: readonly Key[]) => Promise<number>,
  failed: (error: unknown, alone: Key | undefined) => void, // may throw, when it is in vain to go on
): Promise<number> {
  const half = Math.ceil(keys.length / 2)
  let done = 0
  for (const some of [keys.slice(0, half), keys.slice(half)])
    try {
      done += some.length > 0 ? await work(some) : 0
    } catch (error) {
      failed(error, some.length === 1 ? some[0] : undefined)
      if (some.length > 1) done += await bisectBatch(some, work, failed)
    }
  return done
}
