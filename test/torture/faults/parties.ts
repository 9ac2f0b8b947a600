import { setTimeout as sleep } from 'node:timers/promises'
import type { Answering } from '../../support/merchant/receiver.ts'
import type { Fault } from './fault.ts'

const acknowledge: Answering = (_request, response) => void response.end('ok')
const fail: Answering = (_request, response) => void response.writeHead(500).end('no')
const hangUp: Answering = (_request, _response, { socket }) => void socket.destroy()
const never: Answering = () => {}

// One merchant's endpoint answers late, never, with errors, or only now and then.
export const badMerchants: Fault = {
  name: 'slow, dead and flapping merchants',
  async inject({ installation: { shops }, isLong, chance, servesAgain }) {
    const slow: Answering = (_request, response) =>
      void setTimeout(() => response.end('ok'), 500 + chance.random() * 2500)
    const flapping: Answering = (...given) =>
      chance.pick([acknowledge, acknowledge, fail, hangUp, never, slow])(...given)
    const behaviours = isLong ? [slow, hangUp, fail, flapping, never] : [slow, flapping]
    const { receiver } = chance.pick(shops)
    for (const behaviour of behaviours) {
      receiver.answerWith(behaviour)
      await sleep(isLong ? 6000 : 2500)
    }
    receiver.answerWith(acknowledge)
    await servesAgain('serves after the fault')
  },
}

// The providers process a request, and its reply is lost or never comes.
export const lostReplies: Fault = {
  name: 'providers that charge and then time out',
  async inject({ installation: { world }, isLong, chance, servesAgain }) {
    const { mtn, paystack } = world.simulators
    for (let n = 0; n < (isLong ? 12 : 5); n++) {
      const trouble = chance.pick(['cut', 'error', 'silence', 'maintenance'] as const)
      mtn.weather = { trouble, hasTaken: true, times: 3 }
      paystack.weather = { trouble, hasTaken: true, times: 3 }
      await sleep(1000)
    }
    mtn.weather = undefined
    paystack.weather = undefined
    await servesAgain('serves after the fault')
  },
}
