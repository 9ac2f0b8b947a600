import { createHash } from 'node:crypto'
import { domainToASCII } from 'node:url'
import type { SendMailOptions } from 'nodemailer'
import type { OutboundMessage } from '../../core/message/messenger.ts'

const maxAddress = 254
const maxSubject = 200

// One mailbox and nothing else: no space, comma, bracket, quote or control character that could begin a second
// recipient or a header. The quoted forms that old standards allow are not worth their dangers.
const mailbox =
  /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*@(?:[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,62})\.)*[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,62})$/u

export const isAddress = (text: string) =>
  text.length <= maxAddress && mailbox.test(text) && domainToASCII(text.slice(text.indexOf('@') + 1)) !== ''

// A repetition has the same Message-ID, so that it can be recognised as one.
export function messageIdOf({ id }: OutboundMessage, { address }: Sender) {
  const left = /^[\w-]{1,64}$/.test(id) ? id : createHash('sha256').update(id).digest('hex')
  return `<${left}@${domainToASCII(address.slice(address.lastIndexOf('@') + 1))}>`
}

// Nothing here is parsed for addresses again: the envelope and the header have the recipient as data.
export function mailOf(letter: OutboundMessage, from: Sender): SendMailOptions {
  return {
    envelope: { from: from.address, to: [letter.to] },
    from,
    to: { name: '', address: letter.to },
    subject: oneLine(letter.subject),
    text: letter.text.toWellFormed(),
    html: letter.html.toWellFormed() || undefined,
    messageId: messageIdOf(letter, from),
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

const oneLine = (text: string) =>
  Array.from(text.toWellFormed().replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' '))
    .slice(0, maxSubject)
    .join('')
    .trim()

export type Sender = { name: string; address: string }
