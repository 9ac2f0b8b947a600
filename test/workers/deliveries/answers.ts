import type { HttpOutcome } from '../../../src/core/notification/delivery.ts'
import type { Outbound, OutboundRequest } from '../../../src/net/outbound.ts'

type Answering = (request: OutboundRequest) => HttpOutcome | Promise<HttpOutcome>

// Answers every request as the test decides.
export const fakeOutbound = (answer: Answering): Outbound => ({
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

export const respond = (status: number, retry_after: string | null = null): HttpOutcome => ({
  ...nothing,
  status,
  retry_after,
  body: Buffer.from('ok'),
  address: '192.0.2.7',
})

export const failWith = (failure: NonNullable<HttpOutcome['failure']>): HttpOutcome => ({
  ...nothing,
  failure,
})

export const acknowledge = () => respond(200)

// The notification of a request, and the number of the try.
export const idOf = ({ headers }: OutboundRequest) => headers['webhook-id'] as string
export const referenceOf = (request: OutboundRequest) => idOf(request).replace(/-N\d+$/, '')
export const sequenceOf = ({ headers }: OutboundRequest) => Number(headers['webhook-sequence'])
export const attemptOf = ({ headers }: OutboundRequest) => Number(headers['webhook-attempt'])

// Holds requests until the test releases them.
export function createRequestGate() {
  const waiting: { request: OutboundRequest; answer(answer: HttpOutcome): void }[] = []
  return {
    waiting,
    hold: (request: OutboundRequest) =>
      new Promise<HttpOutcome>(answer => void waiting.push({ request, answer })),
    release(answer: (request: OutboundRequest) => HttpOutcome = acknowledge) {
      for (const one of waiting.splice(0)) one.answer(answer(one.request))
    },
  }
}
