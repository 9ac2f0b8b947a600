import { onTestFinished } from 'vitest'
import { type SimulatorRequest, openSimulator, type SimulatorReply } from '../../simulators/simulator.ts'
import { accountAt } from './context.ts'

// A Paystack that says exactly what it is told to say, by the kind of question.
export type Script = {
  charge?: SimulatorReply
  submit?: SimulatorReply
  page?: SimulatorReply
  verify?: SimulatorReply
  pending?: SimulatorReply
  balance?: SimulatorReply
  refund?: SimulatorReply // the answer to POST /refund
  refundById?: SimulatorReply
  refunds?: SimulatorReply | ((asked: SimulatorRequest) => SimulatorReply)
  disputes?: SimulatorReply
}

// By method and path.
const kinds: readonly (readonly [RegExp, keyof Script])[] = [
  [/ \/charge$/, 'charge'],
  [/ \/charge\/submit_/, 'submit'],
  [/ \/charge\//, 'pending'],
  [/ \/transaction\/initialize$/, 'page'],
  [/ \/transaction\/verify\//, 'verify'],
  [/ \/balance$/, 'balance'],
  [/^POST \/refund$/, 'refund'],
  [/ \/refund$/, 'refunds'],
  [/ \/refund\//, 'refundById'],
  [/ \/dispute\/transaction\//, 'disputes'],
]

const notTold: SimulatorReply = { status: 500, body: { status: false, message: 'The script does not say.' } }

export async function openScripted(script: Script, clock?: () => Date) {
  const provider = await openSimulator({
    answer: asked => {
      const told =
        script[kinds.find(([fits]) => fits.test(`${asked.method} ${asked.path}`))?.[1] ?? 'balance'] ??
        notTold
      return typeof told === 'function' ? told(asked) : told
    },
    controls: {},
  })
  onTestFinished(() => provider.stop())
  return { provider, account: accountAt(provider.url, clock) }
}

export const good = (data: unknown, message = 'Charge attempted'): SimulatorReply => ({
  status: 200,
  body: { status: true, message, data },
})
export const bad = (status: number, message: string, more: object = {}): SimulatorReply => ({
  status,
  body: { status: false, message, ...more },
})
