import { unreadableSetting } from '../../core/interface/refusal.ts'
import type { SettingName } from '../../core/merchant/settings.ts'
import type { Caller } from '../../store/merchants/callers.ts'

// What each door of the interface is guarded by. While one of these cannot be read, its default could let in what the
// merchant has forbidden.
const guards = {
  initiation: [
    'unsigned_requests',
    'allowed_origins',
    'form_ipn_url',
    'currencies',
    'min_total',
    'max_total',
    'rate_limit',
    'rate_burst',
  ],
  status: ['signed_status_checks', 'rate_limit', 'rate_burst'],
  feed: ['rate_limit', 'rate_burst'],
} as const satisfies Record<string, readonly SettingName[]>

export type Guarded = keyof typeof guards

export function mustBeReadable({ merchant_id, unreadable: names, sealed }: Caller, door: Guarded) {
  if (sealed !== undefined)
    throw unreadableSetting('the secret of this merchant_key, which cannot be opened', String(sealed))
  const shut = names.filter(name => guards[door].some(guard => guard === name))
  if (shut.length === 0) return
  const settings = shut.length === 1 ? 'the setting' : 'the settings'
  throw unreadableSetting(
    `${settings} ${shut.join(', ')}, which cannot be read`,
    `settings of merchant ${merchant_id}: ${shut.join(', ')}`,
  )
}
