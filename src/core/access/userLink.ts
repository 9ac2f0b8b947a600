import { formTokenOf, isFormToken } from '../formOrigin.ts'
import type { MerchantRole, OperatorRole } from './permissions.ts'

const minuteMs = 60_000
export const resetMinutes = 30
export const rescueMinutes = 60
export const invitationDays = 7
export const maxOpenInvitations = 50 // of one merchant, or of the operator
export const resetsPerHour = 3 // mails to one address

export const linkEnd = {
  reset: (now: Date) => new Date(now.getTime() + resetMinutes * minuteMs),
  rescue: (now: Date) => new Date(now.getTime() + rescueMinutes * minuteMs),
  invitation: (now: Date) => new Date(now.getTime() + invitationDays * 24 * 60 * minuteMs),
}

export type LinkPurpose = 'invitation' | 'reset'

// A single-use link. The row is removed when the link is used, and the address holds a signature of its id, so that a copy
// of the table opens nothing.
export type UserLink = {
  link_id: string
  purpose: LinkPurpose
  user_id: string | null // of a reset; null if there is no such account
  email: string
  operator_role: OperatorRole | null // of an invitation to the operator's part
  merchant_id: string | null // of an invitation to a merchant
  role: MerchantRole | null
  outlets: readonly string[] | null
  invited_by: string | null // a user_id, of a reset that of the person; null: by a command
  created_at: Date
  expires_at: Date
}

type LinkName = Pick<UserLink, 'link_id' | 'purpose'>

const signatureOf = (key: Buffer, { link_id, purpose }: LinkName) =>
  formTokenOf(key, ['user link', purpose, link_id])

export const userLinkAddress = (key: Buffer, baseUrl: string, link: LinkName) =>
  `${baseUrl}/dashboard/${link.purpose}/${link.link_id}.${signatureOf(key, link)}`

// A form of an invitation brings the id of its link.
export const isUserLinkId = (text: string) => /^[0-9a-z]{16}$/.test(text)

// The id in the address of a link; undefined if its signature is wrong.
export function linkIdOf(key: Buffer, purpose: LinkPurpose, token: string): string | undefined {
  const [, link_id, signature] = /^([0-9a-z]{16})\.([\w-]{43})$/.exec(token) ?? []
  if (link_id === undefined) return undefined
  return isFormToken(signatureOf(key, { link_id, purpose }), signature) ? link_id : undefined
}
