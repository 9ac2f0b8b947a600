import type { HttpOutcome } from '../../../src/core/notification/delivery.ts'
import type { Outbound, OutboundRequest } from '../../../src/net/outbound.ts'

type Answering = (request: OutboundRequest) => HttpOutcome | Promise<HttpOutcome>

// The outside world: answers every request as the test wants.
export const playedOutbound = (answer: Answering): Outbound => ({
  send: async request => answer(request),
  close: async () => {},
})

const nothing: HttpOutcome = {
  status: null,
  retry_after: null,
  body: null,
  address: null,
  failure: null,
  error: '',
  ms: 12,
  first_byte_ms: 3,
}

export const says = (status: number, retry_after: string | null = null): HttpOutcome => ({
  ...nothing,
  status,
  retry_after,
  body: Buffer.from('ok'),
  address: '192.0.2.7',
})

export const fails = (failure: NonNullable<HttpOutcome['failure']>): HttpOutcome => ({ ...nothing, failure })

export const thanks = () => says(200)

// Which notification a request carries, and which try of it.
export const idOf = ({ headers }: OutboundRequest) => headers['webhook-id'] as string
export const referenceOf = (request: OutboundRequest) => idOf(request).replace(/-N\d+$/, '')
export const sequenceOf = ({ headers }: OutboundRequest) => Number(headers['webhook-sequence'])
export const attemptOf = ({ headers }: OutboundRequest) => Number(headers['webhook-attempt'])

// Requests that wait until the test lets them go.
export function createGateKeeper() {
  const waiting: { request: OutboundRequest; answer(answer: HttpOutcome): void }[] = []
  return {
    waiting,
    hold: (request: OutboundRequest) =>
      new Promise<HttpOutcome>(answer => void waiting.push({ request, answer })),
    letGo(answer: (request: OutboundRequest) => HttpOutcome = thanks) {
      for (const one of waiting.splice(0)) one.answer(answer(one.request))
    },
  }
}
