import type { Trouble } from '../frame.ts'

// What shall become of a charge, told when it is made.
export type Story = {
  asks?: string // the word of the charge: pay_offline, send_otp, or any other
  code?: string // that is accepted at its step
  ends?: Ending // by itself, after `afterMs`; without it a person decides
  afterMs?: number
  says?: string // the sentence beside a no
  unpaid?: 'abandoned' | 'failed' // what verify says when the window is over
  meanwhile?: string // what verify says of an open prompt instead of `ongoing`
  staysOpen?: boolean // GET /charge repeats `asks` after the window, whatever verify says
  wrongCodeEnds?: boolean // the first wrong code ends the charge
  feeBearer?: 'customer' // the fee is added to the amount
  lost?: Trouble // the answer to the start; the charge was taken
  delayMs?: number // of that answer
  hiddenMs?: number // so long verify does not find it
  lagMs?: number // so long verify does not know that it ended
  paysAs?: { amount?: number; currency?: string; reference?: string } // what verify says of the yes
  hooks?: readonly Hook[] // of a yes; one good one is usual
}
export type Ending = 'success' | 'failed' | 'reversed'

// A webhook, or what somebody sends in its place.
export type Hook = { kind?: HookKind; afterMs?: number }
export type HookKind = 'good' | 'early' | 'unsigned' | 'forged' | 'altered' | 'other_order' | 'wrong_amount'

const soonMs = 1500

// By the last digits of the number, on every network. All others wait for a person.
export const standing: Readonly<Record<string, { words: string; story: Story }>> = {
  '1234987': {
    words: 'paid at once, as the published test number',
    story: { asks: 'success', ends: 'success' },
  },
  '0000000': { words: 'approved soon', story: { ends: 'success', afterMs: soonMs } },
  '0000002': {
    words: 'not enough money',
    story: { ends: 'failed', afterMs: soonMs, says: 'Insufficient funds in the wallet' },
  },
  '0000003': {
    words: 'declined on the phone',
    story: { ends: 'failed', afterMs: soonMs, says: 'Transaction declined by the customer' },
  },
  '0000004': { words: 'nobody answers', story: {} },
  '0000005': {
    words: 'the start is answered with HTTP 500, and charged all the same',
    story: { lost: 'error', ends: 'success', afterMs: soonMs },
  },
  '0000006': {
    words: 'the start is never answered, and charged all the same',
    story: { lost: 'silence', ends: 'success', afterMs: soonMs },
  },
  '0000007': {
    words: 'failed when the window is over, and paid after that',
    story: { ends: 'success', afterMs: 240_000, unpaid: 'failed' },
  },
  '0000008': { words: 'a code is asked for: 123456', story: { asks: 'send_otp' } },
  '0000009': {
    words: 'another amount is paid',
    story: { ends: 'success', afterMs: soonMs, paysAs: { amount: 100 } },
  },
  '0000010': {
    words: 'paid, and reversed by the provider',
    story: { ends: 'reversed', afterMs: soonMs },
  },
  '0000011': {
    words: 'paid, and no webhook comes',
    story: { ends: 'success', afterMs: soonMs, hooks: [] },
  },
  '0000012': {
    words: 'paid, and webhooks come late, twice and forged',
    story: {
      ends: 'success',
      afterMs: soonMs,
      hooks: [{ kind: 'forged' }, { kind: 'unsigned' }, { afterMs: 5000 }, { afterMs: 6000 }],
    },
  },
  '0000013': { words: 'a PIN is asked for, which we never do', story: { asks: 'send_pin' } },
  '0000014': {
    words: 'paid, and the customer is charged the fee as well',
    story: { ends: 'success', afterMs: soonMs, feeBearer: 'customer' },
  },
  '0000015': {
    words: 'the charge says pending while verify says abandoned',
    story: { asks: 'pending', meanwhile: 'abandoned', staysOpen: true },
  },
  '0000016': {
    words: 'a code is asked for, 123456, and the first wrong one ends the charge',
    story: { asks: 'send_otp', wrongCodeEnds: true },
  },
}

export const storyByNumber = (number: string): Story | undefined => standing[number.slice(-7)]?.story
