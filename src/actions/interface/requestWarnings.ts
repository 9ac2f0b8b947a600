import { type FieldNames, fieldWarnings, requestNames } from '../../core/interface/fieldNames.ts'
import type { Fields } from '../../core/interface/json.ts'
import { Refusal } from '../../core/interface/refusal.ts'
import type { PaymentRequest } from '../../core/interface/request.ts'
import {
  addressWarnings,
  neverCalled,
  type NotificationAddress,
  type Warning,
} from '../../core/interface/warnings.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import type { Caller } from '../../store/merchants/callers.ts'

// The warnings of an accepted request. A live request has at most one: an ipn_url that is never called.
export function requestWarnings(
  { addressRules }: Pick<Runtime, 'addressRules'>,
  { mode, settings }: Caller,
  sent: Fields,
  request: PaymentRequest,
): Warning[] {
  const notified = notificationAddress(request.ipn_url, settings.ipn_url)
  const live = addressRules('live')
  if (mode === 'live') {
    const warning = notified && neverCalled(notified, live)
    return warning ? [warning] : []
  }
  const { success_url, cancelled_url, deferred_url } = request
  const redirects = { success_url, cancelled_url, deferred_url }
  return [
    ...fieldWarnings(sent, requestNames),
    ...addressWarnings(notified, redirects, { test: addressRules('test'), live }),
  ]
}

function notificationAddress(
  sent: PaymentRequest['ipn_url'],
  setting: Caller['settings']['ipn_url'],
): NotificationAddress | undefined {
  if (sent !== undefined) return { url: sent, isSetting: false }
  return setting === null ? undefined : { url: setting, isSetting: true }
}

// Adds the misspelt fields to a refusal in test mode: a required field that is missing may be one of them. The key decides
// by its text, so that an unknown merchant gets the same answer as a known one.
export async function withFieldWarnings<T>(
  sent: Fields,
  names: FieldNames,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Refusal && isTestRequest(sent)) {
      const warnings = fieldWarnings(sent, names)
      if (warnings.length > 0) error.warnings = warnings
    }
    throw error
  }
}

// The name merchant_key itself may be misspelt.
const isTestRequest = (sent: Fields) =>
  isPresent(sent.merchant_key) ? isTestKey(sent.merchant_key) : Object.values(sent).some(isTestKey)

const isPresent = (value: unknown) => value !== undefined && value !== null && value !== ''

const isTestKey = (value: unknown) => typeof value === 'string' && value.startsWith('tk_')
