import { Unavailable } from '../../../src/core/interface/refusal.ts'

// Again until the records answer, which a machine without time may take long to do.
export async function insist<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Unavailable) return insist(work)
    throw error
  }
}
