import { readUrl } from '../text.ts'
const withoutDots = new Set(['gmail.com', 'googlemail.com'])

// Whom an address reaches, in one spelling: for counting alone, messages go to the address as it was given. Most mail
// servers take capitals and a +tag for the same mailbox, and one of the largest takes dots for nothing; where one does
// not, two of its mailboxes share a count. A phone number has one spelling already.
export function mailboxOf(recipient: string): string {
  const at = recipient.lastIndexOf('@')
  if (at < 0) return recipient
  const domain = domainOf(recipient.slice(at + 1))
  const local = recipient
    .slice(0, at)
    .normalize('NFC')
    .toLowerCase()
    .replace(/(?!^)\+.*$/s, '')
  return withoutDots.has(domain) ? `${local.replaceAll('.', '')}@gmail.com` : `${local}@${domain}`
}

// As it is looked up, where it is a name at all.
function domainOf(text: string): string {
  const url = /[/?#:@[\]\\]/.test(text) ? undefined : readUrl(`http://${text}`)
  return url?.hostname ?? text.normalize('NFC').toLowerCase()
}
