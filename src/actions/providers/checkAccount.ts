import type { Provider, ProviderAccount, ProviderSettings } from '../../core/provider/provider.ts'
import { cleanError, cleanText } from '../../core/text.ts'
import { timerOf, withinDeadline } from '../../runtime/deadline.ts'
import { withoutSecrets } from '../../runtime/providers/openAccount.ts'

const withinMs = 30_000
const maxWords = 500

// `bad`: the provider says that the settings are wrong. `no_answer`: it could not be asked, which says nothing of them.
export type AccountCheck = { outcome: 'good' | 'bad' | 'no_answer' | 'no_check'; words: string }

// Asks the provider whether the settings are good, without charging anybody.
export async function checkAccount(
  kind: Provider,
  given: ProviderSettings,
  { checkCredentials: test }: Pick<ProviderAccount, 'checkCredentials'>,
): Promise<AccountCheck> {
  if (!test) return { outcome: 'no_check', words: 'This provider has no check that charges nobody.' }
  const clean = (words: string) => withoutSecrets(kind, given, words)
  try {
    const {
      isValid: isGood,
      words,
      unreachable: notAsked,
    } = await withinDeadline(test, timerOf(withinMs), 'no answer in 30 seconds')
    const outcome = isGood ? 'good' : notAsked ? 'no_answer' : 'bad'
    return { outcome, words: clean(cleanText(words, maxWords)) }
  } catch (error) {
    return { outcome: 'no_answer', words: clean(cleanError(error, maxWords)) }
  }
}
