// The kinds of work that workers search for. runtime/dueWork.ts explains how they are searched.
export const dueKinds = [
  'deliveries',
  'parked', // deliveries behind their lane
  'sms',
  'email',
  'attempts',
  'refunds',
  'expiry',
  'userMails',
  'accounts', // provider accounts that were changed
] as const
export type DueKind = (typeof dueKinds)[number]

// Milliseconds since 1970 of the earliest work; a kind without work is missing.
export type DueTimes = Partial<Record<DueKind, number>>
