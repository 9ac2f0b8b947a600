import type { Provider, ProviderAccount, ProviderSettings } from '../../core/provider/provider.ts'
import { cleanError, cleanText } from '../../core/text.ts'
import { timerOf, withinDeadline } from '../../runtime/deadline.ts'
import { withoutSecrets } from '../../runtime/providers/openAccount.ts'

const patientMs = 30_000
const maxWords = 500

// `bad`: the provider refuses the settings. `no_answer`: it gave no usable answer, which proves nothing about them.
export type AccountCheck = { outcome: 'good' | 'bad' | 'no_answer' | 'no_check'; words: string }

// Checks the settings at the provider without a charge.
export async function checkAccount(
  provider: Provider,
  values: ProviderSettings,
  { checkCredentials }: Pick<ProviderAccount, 'checkCredentials'>,
  timeoutMs = patientMs,
): Promise<AccountCheck> {
  if (!checkCredentials)
    return { outcome: 'no_check', words: 'This provider has no check that charges nobody.' }
  const clean = (words: string) => withoutSecrets(provider, values, words)
  try {
    const checked = withinDeadline(checkCredentials, timerOf(timeoutMs), `no answer in ${timeoutMs / 1000} s`)
    const { isValid, words, unreachable } = await checked
    const outcome = isValid ? 'good' : unreachable ? 'no_answer' : 'bad'
    return { outcome, words: clean(cleanText(words, maxWords)) }
  } catch (error) {
    return { outcome: 'no_answer', words: clean(cleanError(error, maxWords)) }
  }
}
