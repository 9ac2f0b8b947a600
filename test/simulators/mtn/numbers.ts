import type { Rule } from '../rules.ts'
import type { Story } from './book.ts'

// The numbers that MTN publishes for its sandbox. Of those from 455 on nobody has told what they do on the wire: what is
// configuration is answered to the order itself, what is the payer's is found by asking.
const failed = (reason: string): Story => ({ ends: { status: 'FAILED', reason } })
const broken = (code: string): Story => ({
  submit: { status: 500, body: { code, message: '' } },
  isTaken: false,
})

const stories: Readonly<Record<string, Story>> = {
  46733123450: failed('INTERNAL_PROCESSING_ERROR'),
  46733123451: failed('APPROVAL_REJECTED'),
  46733123452: failed('EXPIRED'),
  46733123453: { ...failed('EXPIRED'), afterReads: 3 },
  46733123454: { first: 'CREATED', ends: { status: 'SUCCESSFUL' }, afterReads: 3 },
  46733123455: failed('PAYER_NOT_FOUND'),
  46733123456: failed('PAYEE_NOT_ALLOWED_TO_RECEIVE'),
  46733123457: failed('NOT_ALLOWED'),
  46733123458: broken('NOT_ALLOWED_TARGET_ENVIRONMENT'),
  46733123459: broken('INVALID_CALLBACK_URL_HOST'),
  46733123460: broken('INVALID_CURRENCY'),
  46733123461: broken('INTERNAL_PROCESSING_ERROR'),
  46733123462: broken('SERVICE_UNAVAILABLE'),
  46733123463: failed('COULD_NOT_PERFORM_TRANSACTION'),
  46733123464: failed('TRANSFER_TYPE_UNKNOWN'),
}

export const publishedNumbers: readonly Rule<Story>[] = Object.entries(stories).map(([number, story]) => ({
  number,
  story,
}))

// All others pay at once.
export const succeeds: Story = { ends: { status: 'SUCCESSFUL' } }
