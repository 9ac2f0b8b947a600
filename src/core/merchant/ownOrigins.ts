import { originOf } from '../text.ts'

type Addresses = { allowed_origins: readonly string[]; ipn_url: string | null }

// The origins that are known to be the merchant's: those registered for it, and that of its own ipn_url setting. The hash
// of a request does not cover ipn_url, so a customer can add one to a signed form. The notification password is sent to
// these origins only.
export function ownOrigins({ allowed_origins, ipn_url }: Addresses): readonly string[] {
  const origin = ipn_url === null ? undefined : originOf(ipn_url)
  return origin === undefined ? allowed_origins : [...new Set([...allowed_origins, origin])]
}

export const isOnOrigins = (url: string, origins: readonly string[]) => origins.includes(originOf(url) ?? '')
