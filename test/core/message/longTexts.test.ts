import { expect, test } from 'vitest'
import { diagnose } from '../../../src/core/interface/diagnosis/diagnose.ts'
import { readHash } from '../../../src/core/interface/diagnosis/readings.ts'
import { wrongTexts } from '../../../src/core/interface/diagnosis/wrongTexts.ts'
import { fieldWarnings, requestNames } from '../../../src/core/interface/fieldNames.ts'
import { NumberText, parseJsonObject } from '../../../src/core/interface/json.ts'
import { isInvoiceId, parseRequest } from '../../../src/core/interface/request.ts'
import { isSigned, keyReadings, totalSpellings } from '../../../src/core/interface/signature.ts'
import { preferredLang } from '../../../src/core/languages/languages.ts'
import { readTotalLimit } from '../../../src/core/merchant/totalLimit.ts'
import { plainDescription, plainName } from '../../../src/core/message/texts/plain.ts'
import { parseMoney } from '../../../src/core/money.ts'
import { readNotificationId } from '../../../src/core/notification/notification.ts'
import { retryAfterMs } from '../../../src/core/notification/schedule.ts'
import { parsePhone } from '../../../src/core/phone.ts'
import { isAddress } from '../../../src/messengers/smtp/settings.ts'
import { cleanId, cleanText, parseUrl } from '../../../src/core/text.ts'
import { readHead } from '../../../src/net/response.ts'

// As long as a body may be. A pattern blocks the event loop while it runs. If its time grew with the square of the
// length, one of these would take 15 seconds.
const length = 60_000
const patienceMs = 5000
const some = (text: string) => text.repeat(length / text.length)

const texts = {
  'zeros and a one': `0.${some('0')}1`,
  'zeros and no number': `${some('0')}!`,
  'nines and a dot': `${some('9')}.`,
  'letters without an end': some('a'),
  'dots between letters': `https://${some('a.')}`,
  'an address of dots': `a@${some('a.')}@`,
  'spaces and a letter': `${some(' ')}x`,
  'spaces between letters': some('a '),
  commas: some(', '),
  backslashes: some('\\'),
  quotes: `{"a":"${some('\\"')}"}`,
  'brackets that open': `{"a":${some('[')}`,
  'keys of an object': `{${Array.from({ length: 6000 }, (_, at) => `"k${at}":0`).join(',')}}`,
  'half characters': some('\ud800'),
  'header lines': `HTTP/1.1 200\r\n${some('a: b\r\n')}`,
  'a header of spaces': `HTTP/1.1 200\r\nconnection:${some(' ')}x\r\n`,
}

const refused = (read: () => unknown) => {
  try {
    read()
  } catch {
    // refused texts are read, too
  }
}

const readers: Record<string, (text: string) => unknown> = {
  'an amount': text => parseMoney(text, 'GHS'),
  'an amount without decimals': text => parseMoney(text, 'UGX'),
  'a limit of amounts': text => readTotalLimit(text, 1n),
  'the spellings of a number': text => totalSpellings(new NumberText(text)),
  'a hash': text => isSigned(keyReadings('ab'.repeat(32)), [text], text),
  'a wrong hash': text => {
    const names = ['invoice_id', 'merchant_key', 'total']
    const fields = { invoice_id: 'i', merchant_key: 'k', total: '1' }
    for (const sent of [
      { ...fields, name: text },
      { ...fields, invoice_id: text },
      { ...fields, total: text },
    ])
      diagnose({
        name: 'secure_hash',
        hash: text,
        secrets: keyReadings('ab'.repeat(32)),
        ipnKey: Buffer.alloc(32),
        merchant_key: 'k',
        right: ['i'],
        texts: wrongTexts(['i'], names, sent),
      })
  },
  'names of fields': text => fieldWarnings({ [text]: '', [text.slice(0, 40)]: '' }, requestNames),
  'the digits of a hash': text => readHash(text.slice(0, 300)),
  'an invoice id': isInvoiceId,
  'a phone number': parsePhone,
  'an address of the web': parseUrl,
  'an address of mail': isAddress,
  'a body': parseJsonObject,
  'every field of a request': text => {
    const names = ['merchant_key', 'invoice_id', 'total', 'number', 'email', 'name', 'description', 'ipn_url']
    for (const name of [...names, 'extra_outlet', 'extra_x', `extra_${text}`])
      refused(() => parseRequest({ merchant_key: 'k', invoice_id: 'i', total: '1', [name]: text }))
  },
  'words of a provider': text => cleanText(text, 200),
  'an id of a provider': cleanId,
  'a description for a mail': plainDescription,
  'a name for an SMS': plainName,
  'the head of an answer': readHead,
  'Retry-After': text => retryAfterMs(text, new Date(0)),
  'Accept-Language': preferredLang,
  'the id of a notification': readNotificationId,
}

for (const [what, read] of Object.entries(readers))
  test(`${what} of any length is read quickly`, { timeout: patienceMs }, () => {
    for (const text of Object.values(texts)) read(text)
    expect(Object.values(texts).every(text => text.length > 40_000)).toBe(true)
  })
