import { onTestFinished } from 'vitest'
import { type Asked, openSimulator, type Said } from '../../simulators/frame.ts'
import { accountAt } from './context.ts'

// A Paystack that says exactly what it is told to say, by the kind of question.
export type Script = {
  charge?: Said
  submit?: Said
  page?: Said
  verify?: Said
  pending?: Said
  balance?: Said
  refunds?: Said | ((asked: Asked) => Said)
  disputes?: Said
}

const kinds: readonly (readonly [RegExp, keyof Script])[] = [
  [/^\/charge$/, 'charge'],
  [/^\/charge\/submit_/, 'submit'],
  [/^\/charge\//, 'pending'],
  [/^\/transaction\/initialize$/, 'page'],
  [/^\/transaction\/verify\//, 'verify'],
  [/^\/balance$/, 'balance'],
  [/^\/refund$/, 'refunds'],
  [/^\/dispute\/transaction\//, 'disputes'],
]

const notTold: Said = { status: 500, body: { status: false, message: 'The script does not say.' } }

export async function openScripted(script: Script, clock?: () => Date) {
  const provider = await openSimulator({
    answer: asked => {
      const told = script[kinds.find(([fits]) => fits.test(asked.path))?.[1] ?? 'balance'] ?? notTold
      return typeof told === 'function' ? told(asked) : told
    },
    controls: {},
  })
  onTestFinished(() => provider.stop())
  return { provider, account: accountAt(provider.url, clock) }
}

export const good = (data: unknown, message = 'Charge attempted'): Said => ({
  status: 200,
  body: { status: true, message, data },
})
export const bad = (status: number, message: string, more: object = {}): Said => ({
  status,
  body: { status: false, message, ...more },
})
