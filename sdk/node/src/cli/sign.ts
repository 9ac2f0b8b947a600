import { type Command, textOption, usageError } from './command.ts'
import { loadCredentials } from './credentials.ts'
import { mistakeOf, rightHashes, type Secrets } from './mistakes.ts'
import { paint } from './output.ts'
import { sortedPairs } from './signedCall.ts'

export const sign: Command = {
  usage: 'sign invoice_id=ID [total=AMOUNT] [NAME=VALUE ...] [--compare HASH]',
  summary: 'Print the text that is hashed and its secure_hash, or find out why your own hash is another.',
  details:
    'Give the values exactly as your program sends them. merchant_key is added. A payment request is signed over\n' +
    'invoice_id, merchant_key and total, a status check over invoice_id and merchant_key.',
  options: {
    compare: {
      type: 'string',
      value: 'HASH',
      help: 'the hash that your program made; the usual mistakes are tried',
    },
    text: { type: 'string', value: 'TEXT', help: 'the text that your program hashed; says where it differs' },
  },
  examples: [
    'sign invoice_id=AMA-1042 total=25.00',
    'sign invoice_id=AMA-1042 total=25.00 --compare 6917989e5641...',
  ],
  async run(input) {
    const { io, positionals } = input
    const credentials = await loadCredentials(io.env)
    const fields = { ...readFields(positionals), merchant_key: credentials.merchantKey }
    const text = sortedPairs(fields)
    const [hash = '', decoded] = rightHashes(fields, credentials)
    io.out(`text  ${text}`)
    io.out(`hash  ${hash}`)
    if (decoded) io.out(`or    ${decoded} (with the hexadecimal secret decoded; the gateway takes both)`)
    const yourText = textOption(input, 'text')
    if (yourText !== undefined && yourText !== text) io.out(differenceOf(yourText, text))
    const yours = textOption(input, 'compare')?.trim()
    if (yours === undefined) return yourText === undefined || yourText === text ? 0 : 1
    const verdict = verdictOn(yours, fields, credentials)
    io.out(
      verdict === undefined
        ? paint(io, 'green', 'Your hash is right.')
        : paint(io, 'red', `Your hash is wrong: ${verdict}.`),
    )
    return verdict === undefined ? 0 : 1
  },
}

function readFields(pairs: readonly string[]): Record<string, string> {
  const fields: Record<string, string> = {}
  for (const pair of pairs) {
    const at = pair.indexOf('=')
    const name = pair.slice(0, at)
    if (at < 1) throw usageError(`${pair}: write NAME=VALUE, such as total=25.00.`)
    if (Object.hasOwn(fields, name)) throw usageError(`${name} is given twice.`)
    fields[name] = pair.slice(at + 1)
  }
  if (fields.invoice_id === undefined && fields.time === undefined)
    throw usageError('invoice_id is missing. For example: sign invoice_id=AMA-1042 total=25.00')
  return fields
}

// Undefined if the hash is right.
function verdictOn(
  hash: string,
  fields: Readonly<Record<string, string>>,
  secrets: Secrets,
): string | undefined {
  if (rightHashes(fields, secrets).includes(hash.toLowerCase())) return undefined
  if (hash === '') return 'it is empty'
  const right = rightHashes(fields, secrets).map(hex => Buffer.from(hex, 'hex').toString('base64'))
  if (right.some(base64 => hash.replace(/=*$/, '') === base64.replace(/=*$/, '')))
    return 'it is the right one in base64; send it as hexadecimal'
  const mistake = mistakeOf(hash, fields, secrets)
  if (mistake) return mistake
  if (!/^[0-9a-f]+$/i.test(hash)) return 'it is not hexadecimal'
  if (hash.length !== 64) return `it has ${hash.length} characters; HMAC-SHA-256 in hexadecimal has 64`
  return 'none of the usual mistakes leads to it; another secret key, or other values than these'
}

function differenceOf(yours: string, text: string): string {
  let at = 0
  while (at < yours.length && yours[at] === text[at]) at++
  return `Your text differs from character ${at + 1} on: ${JSON.stringify(yours.slice(at, at + 30))} instead of ${JSON.stringify(text.slice(at, at + 30))}.`
}
