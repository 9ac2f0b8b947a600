import type { Trouble } from '../simulator.ts'

// The outcome of a charge, fixed when it is created.
export type Story = {
  asks?: string // the status of the charge: pay_offline, send_otp, or any other
  code?: string // the accepted one
  ends?: Ending // automatically, after `afterMs`; without it, a person decides
  afterMs?: number
  says?: string // the text of a decline
  unpaid?: 'abandoned' | 'failed' // the status that verify returns after the time limit
  meanwhile?: string // the status that verify returns for an open prompt instead of `ongoing`
  staysOpen?: boolean // GET /charge repeats `asks` after the time limit, whatever verify returns
  wrongCodeEnds?: boolean // the first wrong code ends the charge
  feeBearer?: 'customer' // the fee is added to the amount
  lost?: Trouble // how the reply to the start gets lost; the charge exists
  delayMs?: number // of that reply
  hiddenMs?: number // how long verify does not find it
  lagMs?: number // how long verify still shows it as open after its end
  paysAs?: { amount?: number; currency?: string; reference?: string } // wrong fields of a paid charge
  hooks?: readonly Hook[] // of a paid charge; default: one good one
}
export type Ending = 'success' | 'failed' | 'reversed'

// A webhook, or a forged one.
export type Hook = { kind?: HookKind; afterMs?: number }
export type HookKind = 'good' | 'early' | 'unsigned' | 'forged' | 'altered' | 'other_order' | 'wrong_amount'

const soonMs = 1500

// By the last digits of the number, on every network. Every other number waits for a person.
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
