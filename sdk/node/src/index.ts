// The public API of the package for any web-standard runtime. What needs Node is in node.ts.
export { createTollgate } from './client.ts'
export type { CallOptions, Signed, Tollgate, TollgateOptions } from './client.ts'
export {
  HandlerError,
  InvalidInputError,
  MismatchError,
  NotificationError,
  OutcomeUnknownError,
  RefusedError,
  SignatureError,
  TollgateError,
  UnavailableError,
} from './errors.ts'
export type { SignatureHint } from './errors.ts'
export type { EventsOptions, FeedEvent } from './events.ts'
export type {
  ExpectedOrder,
  NotificationRules,
  ReceivedNotification,
  RefundChange,
  StatusChange,
} from './handler.ts'
export type { InitiatedPayment, LineItem, Order } from './initiate.ts'
export type { Amount } from './money.ts'
export type { Notification, NotificationHeaders, RawBody, RefundNotification } from './notification.ts'
export type { Payment, PaymentStatus } from './payment.ts'
export type { Refund, RefundOrder, RefundRecord, RefundState } from './refund.ts'
export type { SignedFields } from './signature.ts'
export { memoryStore } from './store.ts'
export type { NotificationStore } from './store.ts'
export type { Retry } from './transport.ts'
