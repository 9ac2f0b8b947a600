import { createHash, createHmac } from 'node:crypto'
import { sortedPairs } from './signedCall.ts'

type Fields = Readonly<Record<string, string>>
export type Secrets = { merchantKey: string; merchantSecret: string; ipnSecret?: string | undefined }

const hmac = (key: string | Buffer, text: string, digest = 'sha256') =>
  createHmac(digest, key).update(text).digest('hex')

const decodedHex = (secret: string) =>
  secret.length % 2 === 0 && /^[0-9a-f]+$/i.test(secret) ? [Buffer.from(secret, 'hex')] : []

// The gateway takes a hexadecimal secret as text and as its decoded bytes.
export const rightHashes = (fields: Fields, { merchantSecret }: Secrets): string[] =>
  [merchantSecret, ...decodedHex(merchantSecret)].map(key => hmac(key, sortedPairs(fields)))

// The usual mistake that leads to this hash; undefined if none does.
export function mistakeOf(hash: string, fields: Fields, secrets: Secrets): string | undefined {
  const sent = hexOf(hash)
  const found = [
    ...wrongTexts(fields, secrets),
    ...wrongKeys(fields, secrets),
    ...wrongDigests(fields, secrets),
  ]
  return found.find(([, candidates]) => candidates.includes(sent))?.[0]
}

// A hash in base64 is compared too.
const hexOf = (hash: string) =>
  /^[A-Za-z0-9+/_-]{43}=?$/.test(hash) ? Buffer.from(hash, 'base64').toString('hex') : hash.toLowerCase()

type Candidate = [mistake: string, hashes: string[]]

function wrongTexts(fields: Fields, { merchantSecret }: Secrets): Candidate[] {
  const right = sortedPairs(fields)
  const keys = [merchantSecret, ...decodedHex(merchantSecret)]
  const of = (...texts: string[]) => texts.flatMap(text => keys.map(key => hmac(key, text)))
  const names = Object.keys(fields).sort()
  const values = names.map(name => fields[name] ?? '')
  const pairs = right.split('&')
  const encoded = names.map(name => `${name}=${encodeURIComponent(fields[name] ?? '')}`).join('&')
  const { total: _total, ...withoutTotal } = fields
  return [
    [
      `the names are not in alphabetical order; the order is ${names.join(', ')}`,
      permutations(pairs)
        .filter(order => order.join('&') !== right)
        .flatMap(order => of(order.join('&'))),
    ],
    [
      'a line break or space was hashed too',
      of(...['\n', '\r\n', ' ', '\t'].flatMap(end => [right + end, end + right])),
    ],
    ['the text was hashed inside quotes', of(`"${right}"`, `'${right}'`)],
    ['the text begins with ? or ends with &', of(`?${right}`, `&${right}`, `${right}&`)],
    [
      'the values were URL-encoded before hashing',
      of(encoded, encoded.replaceAll('%20', '+'), encodeURIComponent(right)),
    ],
    [
      'only the values were hashed, without their names',
      ['', '&', ',', '|', ';', '.', ' '].flatMap(by => of(values.join(by))),
    ],
    [
      'the pairs are not joined by &',
      ['', ',', ', ', '|', ';', ' ', '\n', '&amp;'].flatMap(by => of(pairs.join(by))),
    ],
    ['name and value are not joined by =', [':', ': ', ''].flatMap(is => of(right.replaceAll('=', is)))],
    [
      'JSON was hashed instead of name=value pairs',
      of(...permutations(names).map(order => json(order, fields))),
    ],
    ['the text was changed to upper or lower case', of(right.toUpperCase(), right.toLowerCase())],
    ['total is missing in the text', fields.total === undefined ? [] : of(sortedPairs(withoutTotal))],
    [
      `total is written in another way; hash it exactly as you send it: ${fields.total}`,
      totalSpellings(fields.total).flatMap(total => of(sortedPairs({ ...fields, total }))),
    ],
    ['the secret is part of the text', secretInText(right, merchantSecret).flatMap(text => of(text))],
    ['the hash was hashed again', keys.flatMap(key => [hmac(key, hmac(key, right)), sha(hmac(key, right))])],
  ]
}

const json = (names: readonly string[], fields: Fields) =>
  JSON.stringify(Object.fromEntries(names.map(name => [name, fields[name]])))

const sha = (text: string, digest = 'sha256') => createHash(digest).update(text).digest('hex')

function secretInText(right: string, secret: string): string[] {
  const names = ['secret', 'secret_key', 'merchant_secret', 'key']
  return names.map(name => `${right}&${name}=${secret}`).concat(right + secret, secret + right)
}

// At most four: more fields have too many orders, and nobody mixes them up by accident.
function permutations(items: readonly string[]): string[][] {
  if (items.length > 4) return [[...items], items.toReversed()]
  if (items.length <= 1) return [[...items]]
  return items.flatMap((item, at) => permutations(items.toSpliced(at, 1)).map(rest => [item, ...rest]))
}

function totalSpellings(total: string | undefined): string[] {
  const [, whole, fraction = ''] = /^(\d+)(?:\.(\d+))?$/.exec(total ?? '') ?? []
  if (whole === undefined) return []
  const kept = fraction.replace(/0+$/, '')
  const two = `${whole}.${kept.padEnd(2, '0')}`
  const spellings = [
    whole,
    `${whole}.0`,
    kept ? `${whole}.${kept}` : whole,
    two,
    `${two}0`,
    two.replace('.', ','),
  ]
  const minor = String(Number(two.replace('.', '')))
  const grouped = two.replace(/\B(?=(\d{3})+(?=\.))/g, ',')
  return [...spellings, minor, grouped, `GHS ${two}`, `${two} GHS`].filter(spelling => spelling !== total)
}

function wrongKeys(fields: Fields, { merchantKey, merchantSecret, ipnSecret }: Secrets): Candidate[] {
  const right = sortedPairs(fields)
  const by = (...keys: (string | Buffer)[]) => keys.map(key => hmac(key, right))
  const plainIpn = ipnSecret?.replace(/^whsec_/, '')
  return [
    ['the merchant key was used as the HMAC key; use the secret key', by(merchantKey)],
    [
      'the signing secret of notifications was used; requests are signed with the secret key',
      ipnSecret && plainIpn ? by(ipnSecret, plainIpn, Buffer.from(plainIpn, 'base64')) : [],
    ],
    [
      'the secret key has a line break or space at its end',
      by(`${merchantSecret}\n`, `${merchantSecret}\r\n`, `${merchantSecret} `, ` ${merchantSecret}`),
    ],
    ['the secret key is inside quotes', by(`"${merchantSecret}"`, `'${merchantSecret}'`)],
    ['the letter case of the secret key was changed', differing(merchantSecret).flatMap(key => by(key))],
    [
      'the secret key was base64-decoded or encoded; use it as text',
      by(Buffer.from(merchantSecret, 'base64'), Buffer.from(merchantSecret).toString('base64')),
    ],
    ['the HMAC key is empty; is the environment variable set?', by('', 'undefined', 'null')],
    [
      'key and text are exchanged: the secret key is the key, the pairs are the text',
      [hmac(right, merchantSecret)],
    ],
  ]
}

const differing = (secret: string) =>
  [secret.toLowerCase(), secret.toUpperCase()].filter(other => other !== secret)

function wrongDigests(fields: Fields, { merchantSecret }: Secrets): Candidate[] {
  const right = sortedPairs(fields)
  const keys = [merchantSecret, ...decodedHex(merchantSecret)]
  const others = ['md5', 'sha1', 'sha384', 'sha512']
  return [
    ...others.map(
      (digest): Candidate => [
        `this is HMAC-${digest.toUpperCase()}; use HMAC-SHA-256`,
        keys.map(key => hmac(key, right, digest)),
      ],
    ),
    ['this is a plain SHA-256 of the text; use HMAC-SHA-256 with the secret key', [sha(right)]],
    [
      'this is a plain hash of text and secret; use HMAC-SHA-256 with the secret as its key',
      [`${right}${merchantSecret}`, `${merchantSecret}${right}`, `${right}&${merchantSecret}`].flatMap(text =>
        ['sha256', 'md5', 'sha1', 'sha512'].map(digest => sha(text, digest)),
      ),
    ],
  ]
}
