import type { MerchantRole, OperatorRole } from './permissions.ts'

// A person who may sign in to the dashboard.
export type User = {
  user_id: string
  email: string // lower case
  name: string
  lang: string
  password_hash: string | null // argon2id; null until the invitation is accepted
  operator_role: OperatorRole | null // null: works for merchants only
  sealed_totp: Buffer | null // the key of the second factor; null: none is set up
  totp_step: bigint | null // the last accepted time step, so that no code is accepted twice
  recovery_digests: readonly string[] // of the codes that are left
  is_demo: boolean // shows a new installation to its first visitor
  active: boolean
  created_at: Date
  signed_in_at: Date | null
}

export type Membership = {
  merchant_id: string
  user_id: string
  role: MerchantRole
  outlets: readonly string[] | null // of a cashier; null: all outlets
  created_at: Date
}

// A session of a browser. Only the digest of its id is stored.
export type UserSession = {
  session_digest: string
  user_id: string
  created_at: Date
  seen_at: Date // updated once a minute at most
  ends_at: Date
  confirmed_at: Date | null // when the password or the second factor was last entered
  address: string
  agent: string
}

const minuteMs = 60_000
export const sessionTimes = {
  idleMs: 60 * minuteMs,
  absoluteMs: 12 * 60 * minuteMs,
  seenEveryMs: minuteMs,
  confirmedMs: 10 * minuteMs, // sensitive actions ask for the password or a code again after this
}

export const isSessionAlive = ({ seen_at, ends_at }: Pick<UserSession, 'seen_at' | 'ends_at'>, now: Date) =>
  now < ends_at && now.getTime() - seen_at.getTime() < sessionTimes.idleMs

export const isConfirmed = ({ confirmed_at }: Pick<UserSession, 'confirmed_at'>, now: Date) =>
  confirmed_at !== null && now.getTime() - confirmed_at.getTime() < sessionTimes.confirmedMs

export const maxUserName = 100
export const maxUserEmail = 254

// One account for each address, however its letters are written.
export const userEmail = (typed: string) => typed.trim().toLowerCase()
