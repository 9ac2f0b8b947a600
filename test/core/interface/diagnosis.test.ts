import { createHash, createHmac } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { diagnose } from '../../../src/core/interface/diagnosis/diagnose.ts'
import { wrongFeedTexts } from '../../../src/core/interface/diagnosis/wrongFeedTexts.ts'
import { wrongSignedTexts, wrongTexts } from '../../../src/core/interface/diagnosis/wrongTexts.ts'
import type { Fields } from '../../../src/core/interface/json.ts'
import {
  feedString,
  keyReadings,
  requestString,
  statusString,
} from '../../../src/core/interface/signature.ts'

// What developers do wrong, each written as their programs do it. The gateway's own code makes none of these hashes.
const secret = '4f7c1d2e9a8b3c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5'
const ipnBytes = createHash('sha256').update('a signing secret').digest()
const ipnSecret = `whsec_${ipnBytes.toString('base64')}`
const invoice_id = 'AMA 1042/7'
const merchant_key = 'tk_0123456789abcdefghjkmnpq'
const total = '1250.00'
const text = requestString(invoice_id, merchant_key, total)

const hmac = (message: string | Buffer, key: string | Buffer = secret, algorithm = 'sha256') =>
  createHmac(algorithm, key).update(message)
const sign = (message: string, key: string | Buffer = secret) => hmac(message, key).digest('hex')
const plain = (message: string, algorithm = 'sha256') => createHash(algorithm).update(message).digest('hex')

const sent: Fields = {
  merchant_key,
  invoice_id,
  total,
  currency: 'GHS',
  description: 'Two straw hats',
  generate_checkout_url: true,
}

function told(hash: string, fields: Fields = sent) {
  return diagnose({
    name: 'secure_hash',
    hash,
    secrets: keyReadings(secret),
    ipnKey: ipnBytes,
    merchant_key,
    right: [text],
    texts: wrongTexts([text], ['invoice_id', 'merchant_key', 'total'], { ...fields, secure_hash: hash }),
  })
}

const values = { invoice_id, merchant_key, total }
const query = new URLSearchParams(values).toString()
const sorted = (fields: Fields) =>
  Object.keys(fields)
    .toSorted()
    .map(name => `${name}=${String(fields[name])}`)
    .join('&')

const mistakes: [what: string, hash: string, mistake: string, sentence: RegExp][] = [
  [
    'merchant_key first',
    sign(`merchant_key=${merchant_key}&invoice_id=${invoice_id}&total=${total}`),
    'other_order',
    /alphabetical order: invoice_id, merchant_key, total/,
  ],
  [
    'total first',
    sign(`total=${total}&invoice_id=${invoice_id}&merchant_key=${merchant_key}`),
    'other_order',
    /alphabetical order/,
  ],
  [
    'reversed',
    sign(`total=${total}&merchant_key=${merchant_key}&invoice_id=${invoice_id}`),
    'other_order',
    /alphabetical order/,
  ],
  [
    'total without decimals',
    sign(requestString(invoice_id, merchant_key, '1250')),
    'other_total',
    /hashed as 1250 but sent as 1250\.00/,
  ],
  [
    'total with one decimal',
    sign(requestString(invoice_id, merchant_key, '1250.0')),
    'other_total',
    /hashed as 1250\.0 /,
  ],
  [
    'total with a separator',
    sign(requestString(invoice_id, merchant_key, '1,250.00')),
    'other_total',
    /hashed as 1,250\.00 /,
  ],
  [
    'total in pesewas',
    sign(requestString(invoice_id, merchant_key, '125000')),
    'other_total',
    /hashed as 125000 /,
  ],
  [
    'total with its currency',
    sign(requestString(invoice_id, merchant_key, 'GHS 1250.00')),
    'other_total',
    /hashed as GHS 1250\.00 /,
  ],
  [
    'another order, and total without decimals',
    sign(`merchant_key=${merchant_key}&invoice_id=${invoice_id}&total=1250`),
    'other_order',
    /alphabetical order.*hashed as 1250 /,
  ],
  ['plain SHA-256', plain(text), 'no_key', /plain SHA-256 .*without a key/],
  ['plain MD5', plain(text, 'md5'), 'no_key', /plain MD5/],
  ['the secret before the text', plain(secret + text), 'secret_in_text', /plain SHA-256/],
  ['the secret behind the text', plain(text + secret), 'secret_in_text', /plain SHA-256/],
  [
    'the secret as a last field',
    plain(`${text}&secret_key=${secret}`, 'sha512'),
    'secret_in_text',
    /plain SHA-512/,
  ],
  [
    'the values and the secret',
    plain(merchant_key + invoice_id + total + secret),
    'secret_in_text',
    /secret_key in it/,
  ],
  ['HMAC-SHA-1', hmac(text, secret, 'sha1').digest('hex'), 'other_algorithm', /HMAC-SHA-1/],
  ['HMAC-MD5', hmac(text, secret, 'md5').digest('hex'), 'other_algorithm', /HMAC-MD5/],
  ['HMAC-SHA-512', hmac(text, secret, 'sha512').digest('hex'), 'other_algorithm', /HMAC-SHA-512/],
  ['echo instead of printf', sign(`${text}\n`), 'line_break', /line break/],
  [
    'spaces around the signs',
    sign(`invoice_id = ${invoice_id} & merchant_key = ${merchant_key} & total = ${total}`),
    'spaces',
    /spaces/,
  ],
  [
    'quotes around the values',
    sign(`invoice_id="${invoice_id}"&merchant_key="${merchant_key}"&total="${total}"`),
    'quotes',
    /quotes/,
  ],
  ['merchant_key as the key', sign(text, merchant_key), 'merchant_key', /key is the merchant_key/],
  ['the signing secret of notifications', sign(text, ipnSecret), 'ipn_secret', /whsec_/],
  ['the decoded signing secret', sign(text, ipnBytes), 'ipn_secret', /whsec_/],
  ['URL-encoded by a form library', sign(query), 'url_encoded', /URL-encoded/],
  [
    'URL-encoded by encodeURIComponent',
    sign(requestString(encodeURIComponent(invoice_id), merchant_key, total)),
    'url_encoded',
    /URL-encoded/,
  ],
  ['the values alone', sign(invoice_id + merchant_key + total), 'values_only', /only the values/],
  [
    'the values with bars',
    sign([merchant_key, invoice_id, total].join('|')),
    'values_only',
    /only the values/,
  ],
  ['the names alone', sign('invoice_id&merchant_key&total'), 'names_only', /only the names/],
  ['JSON', sign(JSON.stringify(values)), 'json', /JSON/],
  [
    'JSON as Python writes it',
    sign(`{"invoice_id": "${invoice_id}", "merchant_key": "${merchant_key}", "total": "${total}"}`),
    'json',
    /JSON/,
  ],
  ['pretty JSON', sign(JSON.stringify(values, null, 2)), 'json', /JSON/],
  ['JSON of all fields', sign(JSON.stringify(sent)), 'all_fields', /all fields/],
  ['all fields', sign(sorted(sent)), 'all_fields', /all fields/],
  [
    'all fields, encoded by PHP',
    sign(
      sorted({
        ...sent,
        invoice_id: 'AMA+1042%2F7',
        description: 'Two+straw+hats',
        generate_checkout_url: 1,
      }),
    ),
    'all_fields',
    /all fields/,
  ],
  ['currency too', sign(`currency=GHS&${text}`), 'more_fields', /currency was hashed too/],
  [
    'the string of a status check',
    sign(statusString(invoice_id, merchant_key)),
    'fewer_fields',
    /total is missing/,
  ],
  ['amount instead of total', sign(text.replace('total=', 'amount=')), 'other_names', /called amount/],
  [
    'names in camel case',
    sign(`invoiceId=${invoice_id}&merchantKey=${merchant_key}&total=${total}`),
    'other_names',
    /camelCase/,
  ],
  ['base64', hmac(text).digest('base64'), 'other_encoding', /right but base64; send it as hexadecimal/],
  ['base64url', hmac(text).digest('base64url'), 'other_encoding', /right but base64/],
  [
    'base64 of the digits',
    Buffer.from(sign(text)).toString('base64'),
    'other_encoding',
    /base64 of the hexadecimal digits/,
  ],
  [
    'the whole line of openssl',
    `SHA2-256(stdin)= ${sign(text)}`,
    'other_encoding',
    /"SHA2-256\(stdin\)= " before it/,
  ],
  ['sha256= before it', `sha256=${sign(text)}`, 'other_encoding', /"sha256=" before it/],
  [
    'bytes with dashes, as .NET writes them',
    (sign(text).toUpperCase().match(/../g) ?? []).join('-'),
    'other_encoding',
    /separators/,
  ],
  ['a line break behind it', `${sign(text)}\n`, 'other_encoding', /line break around it/],
  ['cut off', sign(text).slice(0, 40), 'other_encoding', /cut off after 40 digits/],
  ['hashed once more', plain(sign(text)), 'hashed_twice', /hashed twice/],
  ['the digest of the text signed', sign(plain(text)), 'hashed_twice', /hashed twice/],
  ['a secret with a line break', sign(text, `${secret}\n`), 'key_around', /line break/],
  ['a secret in quotes', sign(text, `"${secret}"`), 'key_around', /quotes/],
  [
    'a secret decoded as base64',
    sign(text, Buffer.from(secret, 'base64')),
    'key_encoding',
    /encoded or hashed/,
  ],
  ['no secret', sign(text, ''), 'no_secret', /key is empty/],
  ['an unset variable', sign(text, 'undefined'), 'no_secret', /the word undefined/],
  ['key and text swapped', createHmac('sha256', text).update(secret).digest('hex'), 'swapped', /swapped/],
  ['UTF-16', hmac(Buffer.from(text, 'utf16le')).digest('hex'), 'text_encoding', /UTF-16/],
  [
    'the decoded secret, and another order',
    sign(`merchant_key=${merchant_key}&invoice_id=${invoice_id}&total=${total}`, Buffer.from(secret, 'hex')),
    'other_order',
    /alphabetical/,
  ],
  [
    'values alone, in base64',
    hmac(invoice_id + merchant_key + total).digest('base64'),
    'values_only',
    /only the values.*; and the hash is base64/,
  ],
]

for (const [what, hash, mistake, sentence] of mistakes)
  test(`${what}: the mistake is named`, () => {
    const hint = told(hash)
    expect(hint).toMatchObject({ hashed_string: text, mistake })
    expect(hint.likely_mistake).toMatch(sentence)
    const all = JSON.stringify(hint)
    for (const hidden of [secret, ipnSecret, ipnBytes.toString('base64'), sign(text)])
      expect(all).not.toContain(hidden)
  })

test('the string that was hashed is shown beside the one to hash', () => {
  const yours = `merchant_key=${merchant_key}&invoice_id=${invoice_id}&total=${total}`
  expect(told(sign(yours))).toMatchObject({ hashed_string: text, your_string: yours })
})

test('a total as a JSON number may be hashed in three ways, and a fourth is named', () => {
  const hash = sign(requestString(invoice_id, merchant_key, '1,250'))
  expect(told(hash, { ...sent, total: '1250' }).likely_mistake).toContain('hashed as 1,250 but sent as 1250')
})

for (const [what, hash, sentence] of [
  [
    'another secret',
    sign(text, 'f'.repeat(64)),
    /^it was made with another secret_key .*, from another text .*, or in another way/,
  ],
  ['the secret of live mode, which is never tried', sign(text, 'e'.repeat(64)), /another secret_key/],
  ['another invoice', sign(text.replace('1042', '1043')), /from another text/],
  ['digits by chance', '0'.repeat(64), /or in another way than the \d+ that were tried$/],
  ['a word', 'zzz', /^secure_hash is not hexadecimal, and it was made/],
  ['four digits', 'abcd', /^secure_hash has 4 characters; HMAC-SHA-256 in hexadecimal has 64; and/],
] as const)
  test(`${what}: the answer claims nothing that is not known`, () => {
    const hint = told(hash)
    expect(hint).toEqual({ hashed_string: text, likely_mistake: expect.stringMatching(sentence) })
  })

test('the first digits of the right hash are not confirmed, so it cannot be found digit by digit', () => {
  const right = sign(text)
  for (const digits of [1, 2, 8, 16, 24, 30, 31]) {
    expect(told(right.slice(0, digits)).mistake, String(digits)).toBeUndefined()
    expect(told(right.slice(0, digits) + 'f'.repeat(64 - digits)).mistake).toBeUndefined()
  }
})

test('one wrong digit anywhere matches nothing', () => {
  fc.assert(
    fc.property(fc.constantFrom(...mistakes), fc.nat(1000), ([, hash], at) => {
      const index = at % hash.length
      const digit = hash[index] ?? ''
      fc.pre(/[0-9a-f]/.test(digit))
      const wrong = hash.slice(0, index) + (digit === '0' ? '1' : '0') + hash.slice(index + 1)
      const { mistake } = told(wrong)
      expect([undefined, 'other_encoding']).toContain(mistake) // padding bits of base64 have no meaning
    }),
  )
})

test('texts that are too long are not tried, and the answer says so', () => {
  const long = 'x'.repeat(2000)
  const texts = wrongTexts([`invoice_id=${long}`], ['invoice_id'], { invoice_id: long })
  const hint = diagnose({
    name: 'secure_hash',
    hash: 'a'.repeat(64),
    secrets: keyReadings(secret),
    ipnKey: ipnBytes,
    merchant_key,
    right: [`invoice_id=${long}`],
    texts,
  })
  expect(hint.likely_mistake).toBe(
    'not known: the usual mistakes were not tried, because the values are too long',
  )
})

const count = (fields: Fields) => wrongTexts([text], ['invoice_id', 'merchant_key', 'total'], fields)?.length

test('the number of candidates depends on the request alone, and stays small', () => {
  expect(count(sent)).toBe(count({ ...sent }))
  expect(count(sent)).toBeGreaterThan(60)
  expect(count(sent)).toBeLessThan(160)
})

const t = '1772443800'
const feedText = feedString(t, merchant_key, '', '')
const toldOfFeed = (hash: string) =>
  diagnose({
    name: 'v1',
    hash,
    secrets: keyReadings(secret),
    ipnKey: ipnBytes,
    merchant_key,
    right: [feedText],
    texts: wrongFeedTexts(feedText, { t, merchant_key, after: '', limit: '' }),
  })

for (const [what, hash, mistake] of [
  ['no dots for empty parts', sign(`${t}.${merchant_key}`), 'missing_dots'],
  ['merchant_key first', sign(`${merchant_key}.${t}..`), 'other_order'],
  ['a limit that was not sent', sign(`${t}.${merchant_key}..100`), 'filled_in'],
  ['names and values', sign(`after=&limit=&merchant_key=${merchant_key}`), 'names_hashed'],
  ['a line break', sign(`${feedText}\n`), 'line_break'],
  ['base64', hmac(feedText).digest('base64'), 'other_encoding'],
  ['the signing secret', sign(feedText, ipnSecret), 'ipn_secret'],
] as const)
  test(`feed, ${what}: the mistake is named`, () => {
    expect(toldOfFeed(hash)).toMatchObject({ hashed_string: feedText, mistake })
  })

// Requests that sign every field, in the order in which they are sent.
const signed = {
  time: '1789000000',
  outcome: 'paid',
  merchant_key,
  total: '25.00',
  email: 'ama@shop.example',
}
const signedText = sorted(signed)

const toldOfSigned = (hash: string) =>
  diagnose({
    name: 'secure_hash',
    hash,
    secrets: keyReadings(secret),
    ipnKey: ipnBytes,
    merchant_key,
    right: [signedText],
    texts: wrongSignedTexts(signedText, { ...signed, secure_hash: hash }),
  })

for (const [what, hash, mistake, sentence] of [
  [
    'without the time',
    sign(sorted({ ...signed, time: undefined }).replace('&time=undefined', '')),
    'fewer_fields',
    /^time is missing/,
  ],
  [
    'in the order as sent',
    sign(
      Object.entries(signed)
        .map(([name, value]) => `${name}=${value}`)
        .join('&'),
    ),
    'other_order',
    /alphabetical order: email, merchant_key, outcome, time, total/,
  ],
  [
    'with the total spelled otherwise',
    sign(signedText.replace('25.00', '25')),
    'other_total',
    /hashed as 25 /,
  ],
  ['by plain SHA-256', plain(signedText), 'no_key', /./],
  ['of another text', sign('unrelated'), undefined, /^it was made with another secret_key/],
] as const)
  test(`a request that signs all fields, ${what}: ${mistake ? 'the mistake is named' : 'nothing is claimed'}`, () => {
    const hint = toldOfSigned(hash)
    expect(hint.mistake).toBe(mistake)
    expect(hint.likely_mistake).toMatch(sentence)
  })

test('nine signed fields need as many candidates as few', () =>
  expect(
    wrongSignedTexts('a', Object.fromEntries(Array.from('abcdefghi', name => [name, name])))?.length,
  ).toBeLessThan(200))
