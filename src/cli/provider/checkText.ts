import type { AccountCheck } from '../../actions/providers/checkAccount.ts'
import type { Provider } from '../../core/provider/provider.ts'
import { CannotDo } from '../failure.ts'
import type { Fact } from '../terminal.ts'

export const checkWords = ({ outcome, words }: AccountCheck): string =>
  ({
    good: `the settings are good: ${words}`,
    bad: `the settings are wrong: ${words}`,
    no_answer: `the provider could not be asked: ${words}`,
    no_check: words,
  })[outcome]

export const checkFact = (checked: AccountCheck | undefined): Fact => [
  'check',
  checked ? checkWords(checked) : 'not asked',
]

// What the provider itself calls wrong is not stored unless somebody insists. That it does not answer says nothing.
export function mustNotBeBad(checked: AccountCheck | undefined) {
  if (checked?.outcome === 'bad')
    throw new CannotDo(
      'refused',
      `Nothing was changed: ${checkWords(checked)} With --no-test it is stored all the same.`,
      { data: { check: checked } },
    )
}

// What was typed where others can read it.
export function shownSecrets({ settings }: Provider, words: readonly string[]): string[] {
  const secret = settings.filter(one => one.isSecret).map(({ name }) => name)
  return [...secret, 'egress_proxy'].filter(name => words.some(word => isTyped(name, word)))
}

const isTyped = (name: string, word: string) => {
  const value = word.startsWith(`${name}=`) ? word.slice(name.length + 1) : ''
  return value !== '' && value !== '-' && !value.startsWith('@')
}

export const shownSecretsWords = (names: readonly string[]) =>
  names.length === 0
    ? []
    : [
        `${names.join(', ')} stood on the command line, where the history of your shell keeps it and others on this ` +
          'machine may have seen it: NAME=- asks for it, NAME=@FILE reads it from a file.',
      ]
