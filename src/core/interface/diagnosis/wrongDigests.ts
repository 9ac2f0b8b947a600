import { createHmac, hash } from 'node:crypto'
import type { WrongText } from './spellings.ts'

// A digest as a developer may have computed it. `text` is what was hashed, if it contains no secret.
export type Trial = { mistake: string; wrong: string; digest: Buffer; text?: string }

type Bytes = string | Buffer
const keyed = (algorithm: string, key: Bytes, text: Bytes) => createHmac(algorithm, key).update(text).digest()
const plain = (algorithm: string, text: Bytes) => hash(algorithm, text, 'buffer')

const keyedAlgorithms = ['sha1', 'md5', 'sha512', 'sha384', 'sha224', 'sha3-256']
const plainAlgorithms = ['sha256', 'md5', 'sha1', 'sha512']

const nameOf = (algorithm: string) =>
  algorithm === 'md5' ? 'MD5' : algorithm.toUpperCase().replace(/^SHA(?=\d)/, 'SHA-')

// The wrong texts, hashed as they should be.
export const ofWrongTexts = (keys: readonly Buffer[], texts: readonly WrongText[]): Trial[] =>
  keys.flatMap(key => texts.map(one => ({ ...one, digest: keyed('sha256', key, one.text) })))

// The right text, hashed by another algorithm.
export const ofOtherAlgorithms = (keys: readonly Buffer[], text: string): Trial[] => [
  ...keys.flatMap(key =>
    keyedAlgorithms.map(algorithm => ({
      mistake: 'other_algorithm',
      wrong: `it is HMAC-${nameOf(algorithm)}; use HMAC-SHA-256`,
      digest: keyed(algorithm, key, text),
    })),
  ),
  ...plainAlgorithms.map(algorithm => ({
    mistake: 'no_key',
    wrong: `it is the plain ${nameOf(algorithm)} of the string, without a key; use HMAC-SHA-256 with your secret_key`,
    digest: plain(algorithm, text),
  })),
  ...keys.flatMap((key): Trial[] => [
    {
      mistake: 'swapped',
      wrong: 'the secret_key and the text are swapped: the secret_key is the key of the HMAC',
      digest: keyed('sha256', text, key),
    },
    {
      mistake: 'text_encoding',
      wrong: 'the string is encoded as base64 before it is hashed; hash the string itself',
      digest: keyed('sha256', key, Buffer.from(text).toString('base64')),
    },
    {
      mistake: 'text_encoding',
      wrong: 'the string is encoded as UTF-16 before it is hashed; use UTF-8',
      digest: keyed('sha256', key, Buffer.from(text, 'utf16le')),
    },
    ...twice(key, text),
  ]),
]

const hexOf = (digest: Buffer) => digest.toString('hex')

const hashedTwice = 'the string is hashed twice; compute one HMAC-SHA-256 of the string itself'

const twice = (key: Buffer, text: string): Trial[] =>
  [
    keyed('sha256', key, hexOf(plain('sha256', text))),
    keyed('sha256', key, plain('sha256', text)),
    plain('sha256', hexOf(keyed('sha256', key, text))),
    plain('sha256', keyed('sha256', key, text)),
    keyed('sha256', key, hexOf(keyed('sha256', key, text))),
  ].map(digest => ({ mistake: 'hashed_twice', wrong: hashedTwice, digest }))

// The secret in the text instead of in the key. The hashed text contains the secret, so it is never shown.
export const ofSecretInText = (secret: Buffer, right: string, values: readonly string[]): Trial[] => [
  ...plainAlgorithms.flatMap(algorithm =>
    ['', '&', '&secret_key=', '&key='].flatMap(sign => [
      withSecret(algorithm, right + sign, secret),
      withSecret(algorithm, secret, sign + right),
    ]),
  ),
  ...plainAlgorithms.flatMap(algorithm =>
    values.flatMap(text => [withSecret(algorithm, text, secret), withSecret(algorithm, secret, text)]),
  ),
]

const withSecret = (algorithm: string, before: Bytes, after: Bytes): Trial => ({
  mistake: 'secret_in_text',
  wrong: `it is the plain ${nameOf(algorithm)} of a text with the secret_key in it; use HMAC-SHA-256, with the secret_key as the key`,
  digest: plain(algorithm, Buffer.concat([Buffer.from(before), Buffer.from(after)])),
})

// The right text with another key.
export function ofOtherKeys(keys: OtherKeys, text: string): Trial[] {
  return otherKeys(keys).map(([mistake, wrong, key]) => ({
    mistake,
    wrong,
    digest: keyed('sha256', key, text),
  }))
}

export type OtherKeys = { secret: Buffer; merchant_key: string; ipnKey: Buffer }

type OtherKey = [mistake: string, wrong: string, key: Bytes]

const around = (key: string): OtherKey => [
  'key_around',
  'the secret_key has a space, a line break or quotes around it; remove them',
  Buffer.from(key, 'latin1'),
]
const encoding = (key: Bytes): OtherKey => [
  'key_encoding',
  'the secret_key is encoded or hashed before it is used; use its text as it was given to you',
  key,
]
const ipn = (key: Bytes): OtherKey => [
  'ipn_secret',
  'the key is the signing secret of notifications (whsec_...); use the secret_key',
  key,
]
const unset = (key: string): OtherKey => [
  'no_secret',
  `the key is ${key === '' ? 'empty' : `the word ${key}`}: the program does not have the secret_key`,
  key,
]

function otherKeys({ secret, merchant_key, ipnKey }: OtherKeys): OtherKey[] {
  const text = secret.toString('latin1')
  const ipnText = ipnKey.toString('base64')
  return [
    ['merchant_key', 'the key is the merchant_key; use the secret_key', merchant_key],
    ...['\n', '\r\n', ' '].map(end => around(text + end)),
    around(` ${text}`),
    around(`"${text}"`),
    around(`'${text}'`),
    ['key_case', 'the secret_key is in upper case; use it as it was given to you', text.toUpperCase()],
    encoding(Buffer.from(text, 'base64')),
    encoding(secret.toString('base64')),
    encoding(plain('sha256', secret)),
    encoding(hexOf(plain('sha256', secret))),
    encoding(hexOf(plain('md5', secret))),
    encoding(secret.toString('hex')),
    encoding(Buffer.from(text, 'utf16le')),
    ipn(`whsec_${ipnText}`),
    ipn(ipnText),
    ipn(ipnKey),
    ...['', 'undefined', 'null', 'None', 'secret_key', 'SECRET_KEY', '$SECRET_KEY'].map(unset),
  ]
}
