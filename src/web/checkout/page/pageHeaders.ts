// A customer's page loads from us alone, shows in no frame but those that its merchant has named, tells nobody its
// address, and makes no markup from text.
const policy = (framedBy: string) =>
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
  `form-action 'self'; base-uri 'none'; frame-ancestors ${framedBy}; ` +
  "require-trusted-types-for 'script'; trusted-types 'none'"

const always = {
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy':
    'accelerometer=(), camera=(), clipboard-read=(), display-capture=(), geolocation=(), gyroscope=(), hid=(), ' +
    'magnetometer=(), microphone=(), midi=(), payment=(), serial=(), usb=(), xr-spatial-tracking=()',
  'cache-control': 'no-store', // it shows how a payment stands, and who pays
}

export const pageHeaders = {
  'content-security-policy': policy("'none'"),
  'x-frame-options': 'DENY',
  ...always,
}

// The older header knows no list of origins: where there is one, the policy alone speaks.
export const headersFramedBy = (origins: readonly string[] = []): Record<string, string> =>
  origins.length === 0 ? pageHeaders : { 'content-security-policy': policy(origins.join(' ')), ...always }
