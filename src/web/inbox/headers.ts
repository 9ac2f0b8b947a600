import { supportHeaders } from '../support/frame.tsx'

// As the support pages, and the frames in which mails are shown.
export const inboxHeaders = {
  ...supportHeaders,
  'content-security-policy':
    "default-src 'none'; style-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
}

// A mail carries its styles within it, as mails do. Nothing else works there but its link, which opens a page of its
// own; whatever got into it could run nothing, load nothing and reach nothing of ours.
export const frameSandbox = 'allow-popups allow-popups-to-escape-sandbox'

export const mailHeaders = {
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; " +
    `sandbox ${frameSandbox}`,
  'x-frame-options': 'SAMEORIGIN',
}
