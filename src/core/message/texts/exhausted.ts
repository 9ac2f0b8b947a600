import type { Result } from '../../notification/delivery.ts'
import type { ExhaustedFacts, Mail } from '../messageFacts.ts'
import { mailHtml } from './mailHtml.ts'
import { mailText, type Sheet } from './mailText.ts'
import { cut, oneLine, plainName, timeWords } from './plain.ts'

const maxSubject = 120
const maxExamples = 10
const maxUrl = 200
const maxWords = 200

// What came of the last try, for whoever has to mend it.
const meanings: Readonly<Record<Result, string>> = {
  acknowledged: 'acknowledged',
  other_2xx: 'answered, but not with status 200, which alone counts',
  redirect: 'answered with a redirect, which is not followed',
  refused: 'refused',
  busy: 'answered that it is too busy',
  server_error: 'answered with an error of its own',
  bad_answer: 'gave an answer that is not HTTP',
  timeout: 'gave no answer in time',
  no_connection: 'could not be connected to',
  tls: 'has a certificate that is not in order',
  name_not_found: 'has a name that cannot be found',
  forbidden_address: 'leads to an address that we do not call',
}

// To the merchant's developer, in English like every word of the interface.
export function exhaustedMail(facts: ExhaustedFacts): Mail {
  const sheet = sheetOf(facts)
  return { subject: sheet.subject, text: mailText(sheet), html: mailHtml(sheet) }
}

function sheetOf({ merchant_name, count, since, examples, link }: ExhaustedFacts): Sheet {
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
    words: [
      'We tried each of them for a day. The payments themselves are safe: only the word about them did not reach you.',
      'Make the address answer with status 200, then deliver them again. They carry the same id and the same bytes.',
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

function exampleLine({ id, url, last_result, words }: ExhaustedFacts['examples'][number]): string {
  const known: Readonly<Record<string, string>> = meanings
  const meaning = Object.hasOwn(known, last_result) ? known[last_result] : oneLine(last_result)
  const more = cut(oneLine(words), maxWords)
  return `${oneLine(id)}: ${cut(oneLine(url), maxUrl)} ${meaning}${more && ` (${more})`}`
}
