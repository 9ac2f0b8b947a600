import { memberMark } from '../../../src/actions/access/team.ts'
import { userMark } from '../../../src/actions/access/people.ts'
import { merchantBase, operatorBase } from '../../../src/web/dashboard/route.ts'
import type { MerchantRows, SeededRows } from './seedRows.ts'

export type Part = 'merchant' | 'operator' | 'own' | 'open'
type Fields = Record<string, string>

// The address of a route: its parameters are rows that exist. `taken` is a payment that the user took.
export function filledPath(
  part: Part,
  path: string,
  rows: SeededRows,
  of: MerchantRows,
  taken: string,
): string {
  const reference = path.startsWith('/take/')
    ? taken
    : /\/(cancel|redeliver)$/.test(path) || part === 'operator'
      ? of.unpaid
      : of.paid
  const filled = path
    .replace('/keys/:merchant/:handover/:secret', of.handoverPath.replace('/dashboard', ''))
    .replace('/invitation/:token', of.invitationPath.replace('/dashboard', ''))
    .replace('/reset/:token', of.resetPath.replace('/dashboard', ''))
    .replace('/merchants/:id', `/merchants/${of.merchant_id}`)
    .replace(':account', rows.account)
    .replace(':merchant', of.merchant_id)
    .replace(':reference', reference)
    .replace(':kind', 'unresolved')
  if (filled.includes(':')) throw new Error(`${path} has a parameter without a row`)
  const base = {
    merchant: merchantBase(of.merchant_id, 'test'),
    operator: operatorBase,
    own: '/dashboard',
    open: '/dashboard',
  }
  return `${base[part]}${filled}${queryOf(path, rows, of)}`
}

function queryOf(path: string, { staff }: SeededRows, { member }: MerchantRows): string {
  if (path === '/settings/team/member') return `?user=${member}`
  if (path === '/users/person') return `?user=${staff.user_id}`
  return ''
}

// The fields of each form, as its page fills them: a form that is let through does what it is for.
export function filledFields(part: Part, path: string, rows: SeededRows, of: MerchantRows): Fields {
  const last = path.slice(path.lastIndexOf('/') + 1)
  if (part === 'merchant') return merchantFields(path, last, of)
  return part === 'operator' ? operatorFields(path, last, rows, of) : ownFields(path)
}

function merchantFields(path: string, last: string, of: MerchantRows): Fields {
  if (path.startsWith('/money/refunds')) return { refund: of.approval, reason: 'Asked twice.' }
  if (path.startsWith('/settings/team')) {
    const mark = memberMark({ role: 'cashier', outlets: null })
    if (last === 'invite') return { email: 'yaa@example.com', role: 'cashier' }
    return last === 'revoke' ? { link: of.invited.link_id } : { user: of.member, mark, role: 'accountant' }
  }
  const known: Record<string, Fields> = {
    refund: { number: '1', part: 'part', amount: '1.00', reason: 'Broken.' },
    receipt: { medium: 'sms', number: '1' },
    redeliver: { sequence: '1', seen: '' },
    cancel: { seen: 'awaiting_payment' },
    ask: { number: '1' },
    outlets: { code: 'kumasi', name: 'Kumasi' },
    'rotate-password': { seen: 'none' },
    'rotate-key': { seen: of.keys.merchant_key, overlap: '24' },
    'rotate-secret': { seen: of.secret_id, overlap: '24' },
    'revoke-key': { seen: 'never', key: of.keys.merchant_key },
    'revoke-secret': { seen: 'never', secret: of.secret_id },
    checkout: { seen_expiry_minutes: '', expiry_minutes: '45' },
    branding: { seen_support_phone: '', support_phone: '+233240000009' },
    limits: { seen_rate_burst: '', rate_burst: '77' },
  }
  return known[last] ?? {}
}

function operatorFields(path: string, last: string, rows: SeededRows, of: MerchantRows): Fields {
  if (path.startsWith('/tasks')) return { number: '1', seen: '', note: 'Asked the provider.' }
  if (path.startsWith('/people')) return { person: '0240000001', sure: 'yes' }
  if (path.startsWith('/users')) {
    if (last === 'invite') return { email: 'yaa@example.com', role: 'support' }
    const mark = userMark({ operator_role: 'support', active: true, has_second_factor: true })
    return last === 'revoke'
      ? { link: rows.invited.link_id }
      : { user: rows.staff.user_id, mark, role: 'finance' }
  }
  if (path === '/accounts/new') return { account: 'paystack-abc123', provider: 'paystack', mode: 'test' }
  const known: Record<string, Fields> = {
    active: { active: 'off' },
    keys: { handover: of.handover },
    settings: { version: '1', label: 'Second' },
    enabled: { version: '1', enabled: 'off' },
    approve: { merchant: of.merchant_id, refund: of.approval },
    reject: { merchant: of.merchant_id, refund: of.approval, reason: 'Asked twice.' },
    record: {
      merchant: of.merchant_id,
      refund: of.refund,
      outcome: 'succeeded',
      at: '2026-01-05',
      reference: 'FT-7781',
    },
  }
  return known[last] ?? {}
}

function ownFields(path: string): Fields {
  if (path.startsWith('/account/profile')) return { name: 'Another Name', lang: 'en' }
  if (path.startsWith('/account/password')) return { password: 'four words that differ' }
  return path.startsWith('/reset') || path.startsWith('/invitation')
    ? { name: 'Yaa', password: 'four words that differ', email: 'yaa@example.com' }
    : {}
}
