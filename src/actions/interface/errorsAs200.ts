import { Refusal } from '../../core/interface/refusal.ts'
import type { Caller } from '../../store/merchants/callers.ts'

// Refusals leave in the form that the merchant's client can read.
export async function withErrorsAs200<T>(caller: Caller | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Refusal) error.as200 = caller?.settings.errors_as_200 ?? false
    throw error
  }
}
