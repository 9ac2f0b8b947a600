import type { Result } from '../../notification/delivery.ts'
import { type Mail, type MailContent, renderMail } from './mailLayout.ts'
import { cut, oneLine, plainName, timeWords } from './plain.ts'

const maxSubject = 120
const maxExamples = 10
const maxUrl = 200
const maxReason = 200

// Notifications that could not be delivered within the last day.
export type ExhaustedFacts = {
  merchant_name: string
  count: number
  since: Date
  examples: { id: string; url: string; last_result: string; error: string }[]
  link: string
}

// The result of the last try, for the developer who has to fix it.
const meanings: Readonly<Record<Result, string>> = {
  acknowledged: 'acknowledged',
  other_2xx: 'answered, but not with status 200, which is required',
  redirect: 'answered with a redirect, which is not followed',
  refused: 'refused',
  busy: 'answered that it is too busy',
  server_error: 'answered with a server error',
  bad_answer: 'sent a response that is not HTTP',
  timeout: 'did not answer in time',
  no_connection: 'could not be connected to',
  tls: 'has an invalid certificate',
  name_not_found: 'has a host name that cannot be resolved',
  forbidden_address: 'resolves to an address that is not allowed',
}

// The mail to the merchant's contact, in English like the whole merchant interface.
export const exhaustedMail = (facts: ExhaustedFacts): Mail => renderMail(contentOf(facts))

function contentOf({ merchant_name, count, since, examples, link }: ExhaustedFacts): MailContent {
  const shop = plainName(merchant_name) || 'your shop'
  const many = count === 1 ? 'One notification' : `${count} notifications`
  const shown = examples.slice(0, maxExamples)
  return {
    lang: 'en',
    dir: 'ltr',
    subject: cut(`${many} to ${shop} could not be delivered`, maxSubject),
    banner: '',
    tone: 'bad',
    title: `${many} could not be delivered`,
    paragraphs: [
      'We tried each of them for a day. The payments themselves are safe: only the notifications did not reach you.',
      'Make the address answer with status 200, then deliver them again. They have the same id and the same body.',
    ],
    facts: [
      ['Merchant', shop],
      ['Since', timeWords(since, 'en-GB')],
      ['Not delivered', String(count)],
    ],
    list: [...shown.map(exampleLine), ...(count > shown.length ? [`and ${count - shown.length} more`] : [])],
    button: 'How notifications work',
    link,
    foot: [`This address is the contact of ${shop}, so you get this mail.`, 'Tollgate'],
  }
}

function exampleLine({ id, url, last_result, error }: ExhaustedFacts['examples'][number]): string {
  const known: Readonly<Record<string, string>> = meanings
  const meaning = Object.hasOwn(known, last_result) ? known[last_result] : oneLine(last_result)
  const more = cut(oneLine(error), maxReason)
  return `${oneLine(id)}: ${cut(oneLine(url), maxUrl)} ${meaning}${more && ` (${more})`}`
}
