import type { Returned } from '../message/message.ts'
import type { Refund } from './refund.ts'

// What the customer got back, the oldest first. A refund that has not succeeded is not shown: it may still fail.
export const returnedOf = (refunds: readonly Refund[]): Returned[] =>
  refunds.flatMap(({ state, amount, succeeded_at }) =>
    state === 'succeeded' && succeeded_at ? [{ amount, at: succeeded_at }] : [],
  )
