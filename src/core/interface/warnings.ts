import { type AddressRules, whyNeverCalled } from '../addressRules.ts'
import type { UntrustedUrl } from '../urlTrust.ts'

// A request that is accepted, but probably does not do what the developer wants. Test mode answers with all warnings;
// live mode only with `never_called`, because then the merchant gets no notification.
export const warningCodes = [
  'unknown_field',
  'field_case',
  'never_called',
  'not_in_live',
  'plain_http',
] as const
export type WarningCode = (typeof warningCodes)[number]
export type Warning = { field: string; code: WarningCode; message: string }

type Addresses = Partial<Record<'success_url' | 'cancelled_url' | 'deferred_url', UntrustedUrl>>

// Of the address that notifications are sent to: the request's own or, if it has none, that of the merchant's setting.
export type NotificationAddress = { url: UntrustedUrl; isSetting: boolean }

// Judged by the text of the address alone: a name is resolved when the notification is sent.
export function neverCalled(
  { url, isSetting }: NotificationAddress,
  rules: AddressRules,
): Warning | undefined {
  const why = whyNeverCalled(url, rules)
  if (why === undefined) return undefined
  const setting = isSetting ? ' in your settings' : ''
  const message = `The ipn_url${setting} is never called: ${why}. Poll the status, or use a public address.`
  return { field: 'ipn_url', code: 'never_called', message }
}

// For test mode.
export function addressWarnings(
  notified: NotificationAddress | undefined,
  redirects: Addresses,
  rules: { test: AddressRules; live: AddressRules },
): Warning[] {
  const warnings: Warning[] = []
  const add = (warning: Warning | undefined) => warning && warnings.push(warning)
  if (notified)
    add(
      neverCalled(notified, rules.test) ??
        notInLive(notified, rules.live) ??
        plainHttp('ipn_url', notified.url),
    )
  for (const [field, url] of Object.entries(redirects)) if (url !== undefined) add(plainHttp(field, url))
  return warnings
}

function notInLive({ url }: NotificationAddress, rules: AddressRules): Warning | undefined {
  const why = whyNeverCalled(url, rules)
  if (why === undefined) return undefined
  const message = `ipn_url is called in test mode, but would not be in live mode: ${why}.`
  return { field: 'ipn_url', code: 'not_in_live', message }
}

function plainHttp(field: string, text: UntrustedUrl): Warning | undefined {
  if (!/^http:/i.test(text)) return undefined
  const message = `${field} is not encrypted: others on the way can read and change what is sent. Use https.`
  return { field, code: 'plain_http', message }
}
