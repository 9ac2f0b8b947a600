import { onTestFinished } from 'vitest'
import { openSimulator, type Said } from '../../simulators/frame.ts'
import { channelAt } from './context.ts'

// A Paystack that says exactly what it is told to say, by the kind of question.
export type Script = {
  charge?: Said
  submit?: Said
  page?: Said
  verify?: Said
  pending?: Said
  balance?: Said
}

const kinds: readonly (readonly [RegExp, keyof Script])[] = [
  [/^\/charge$/, 'charge'],
  [/^\/charge\/submit_/, 'submit'],
  [/^\/charge\//, 'pending'],
  [/^\/transaction\/initialize$/, 'page'],
  [/^\/transaction\/verify\//, 'verify'],
  [/^\/balance$/, 'balance'],
]

const notTold: Said = { status: 500, body: { status: false, message: 'The script does not say.' } }

export async function openScripted(script: Script, clock?: () => Date) {
  const provider = await openSimulator({
    answer: ({ path }) => script[kinds.find(([fits]) => fits.test(path))?.[1] ?? 'balance'] ?? notTold,
    controls: {},
  })
  onTestFinished(() => provider.stop())
  return { provider, channel: channelAt(provider.url, clock) }
}

export const good = (data: unknown, message = 'Charge attempted'): Said => ({
  status: 200,
  body: { status: true, message, data },
})
export const bad = (status: number, message: string): Said => ({ status, body: { status: false, message } })
