import { createInterface } from 'node:readline'
import type { WaitingAttempts } from '../../actions/providers/waitingAttempts.ts'
import { CannotDo } from '../failure.ts'
import type { Input } from './secretInput.ts'

export const countAttempts = (count: number) => (count === 1 ? '1 open attempt' : `${count} open attempts`)

export const waitingLine = ({ attempts, why }: WaitingAttempts) =>
  `${countAttempts(attempts)} ${attempts === 1 ? 'waits' : 'wait'}. ${why}`

export type BusinessAnswer = 'same' | 'other' | 'not_said'

// Asks on a terminal. A script says it by an option, or leaves it open.
export async function askSameBusiness(
  account: string,
  attempts: number,
  input: Input = process.stdin,
): Promise<BusinessAnswer> {
  if (!input.isTTY) return 'not_said'
  process.stderr.write(
    `These are other credentials than ${account} has now. If they are of the same business at the provider, ` +
      `${attempts === 0 ? 'attempts' : `its ${countAttempts(attempts)}`} made before go on with them. ` +
      'If they are not, a customer could be charged twice, so those attempts are left alone.\n',
  )
  const lines = createInterface({ input, output: process.stderr, terminal: true })
  try {
    const typed = await new Promise<string>((resolve, reject) => {
      lines.once('SIGINT', () => reject(new CannotDo('refused', 'Nothing was changed.')))
      lines.once('close', () => resolve(''))
      lines.question('Same business? [y/N] ', resolve)
    })
    return /^y(es)?$/i.test(typed.trim()) ? 'same' : 'other'
  } finally {
    lines.close()
  }
}

// What the operator has to know after credentials changed.
export function businessWords(account: string, attempts: number, answer: BusinessAnswer): string {
  if (answer === 'same')
    return `The credentials are of the same business: ${attempts === 0 ? 'no attempt is open' : `${countAttempts(attempts)} ${attempts === 1 ? 'goes' : 'go'} on`}.`
  const then = `If it is the same business after all: tollgate provider confirm ${account}.`
  const waits =
    attempts === 0 ? 'no attempt is open' : `${countAttempts(attempts)} ${attempts === 1 ? 'waits' : 'wait'}`
  return answer === 'other'
    ? `The credentials are of another business: ${waits}. ${then}`
    : `Whether the credentials are of the same business was not said (--same-business or --other-business), so ` +
        `they count as another one: ${waits}. ${then}`
}
