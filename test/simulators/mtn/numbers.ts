import type { Rule } from '../rules.ts'
import type { Story } from './charges.ts'

// The numbers that MTN publishes for its sandbox. The wire behaviour from 455 on is undocumented. Here, configuration errors
// are the reply to the order itself, and errors of the payer appear in the status.
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

// Additional numbers, in every environment: replies of a live market that the sandbox does not produce.
const refused = (status: number, body: object | string = '', more: Story = {}): Story => ({
  submit: {
    status,
    body,
    ...(typeof body === 'string' && body !== '' && { headers: { 'content-type': 'text/html' } }),
  },
  isTaken: false,
  ...more,
})
const coded = (code: string) => ({ code, message: '' })
const notUsedUp: Story = { isUsedUp: false }

const ghanaStories: Readonly<Record<string, Story>> = {
  233244000001: { ends: { status: 'SUCCESSFUL' } },
  233244000002: failed('LOW_BALANCE_OR_PAYEE_LIMIT_REACHED_OR_NOT_ALLOWED'),
  233244000003: failed('APPROVAL_REJECTED'),
  233244000004: failed('WALLET_TIER_7_NOT_ELIGIBLE'), // an unknown code
  233244000005: { ends: { status: 'SUCCESSFUL' }, told: { amount: 'lots' } },
  233244000006: refused(500, coded('PAYER_NOT_FOUND')),
  233244000007: refused(500, coded('PAYER_NOT_FOUND'), notUsedUp),
  233244000008: refused(500, coded('PAYEE_NOT_ALLOWED_TO_RECEIVE')),
  233244000009: refused(500, coded('NOT_ALLOWED')),
  233244000010: refused(400),
  233244000011: refused(400, '', notUsedUp),
  233244000012: refused(401, { message: 'Unauthorized' }, notUsedUp),
  233244000013: refused(403, { message: 'Forbidden IP' }, notUsedUp),
  233244000014: refused(200, '<html><title>Request Rejected</title></html>', notUsedUp),
  233244000015: refused(500, coded('INTERNAL_PROCESSING_ERROR')),
  233244000016: refused(500, coded('INTERNAL_PROCESSING_ERROR'), notUsedUp),
  233244000017: { submit: { status: 500, body: coded('PAYER_NOT_FOUND') }, ends: { status: 'SUCCESSFUL' } },
}

const rulesFor = (all: Readonly<Record<string, Story>>): readonly Rule<Story>[] =>
  Object.entries(all).map(([number, story]) => ({ number, story }))

export const publishedNumbers = rulesFor(stories)
export const ghanaNumbers = rulesFor(ghanaStories)

// Every other number pays at once.
export const succeeds: Story = { ends: { status: 'SUCCESSFUL' } }
