// The ways in which developers write a digest. Each reading is the digest's bytes and, unless the text is plain
// hexadecimal, what is wrong with it.
export type HashReading = {
  bytes: Buffer
  isStart?: boolean // the bytes are only the beginning of the digest
  wrong?: string
}

const maxLength = 300

// A shorter text is never compared: an answer about a few digits would let a client find the right hash digit by digit.
// 16 bytes cannot be guessed.
const minBytes = 16

const asHex = 'send it as hexadecimal'

export function readHash(hash: string): HashReading[] {
  if (hash.length > maxLength) return []
  const readings = [...plainReadings(hash), ...wrappedReadings(hash)]
  return readings.filter(({ bytes }) => bytes.length >= minBytes)
}

const isHex = (text: string) => /^[0-9a-f]+$/i.test(text)
const fromHex = (text: string) => Buffer.from(text, 'hex')

function plainReadings(text: string): HashReading[] {
  if (isHex(text)) return hexReadings(text)
  if (/^[0-9a-f]{2}(?:([:\- ])[0-9a-f]{2})(?:\1[0-9a-f]{2})+$/i.test(text))
    return [{ bytes: fromHex(text.replace(/[:\- ]/g, '')), wrong: 'written with separators; remove them' }]
  return base64Readings(text)
}

function hexReadings(text: string): HashReading[] {
  const readings: HashReading[] = []
  if (text.length % 2 === 0) readings.push({ bytes: fromHex(text) })
  if (text.length < 64) {
    const padded = fromHex(text.padStart(64, '0'))
    const start = fromHex(text.slice(0, text.length - (text.length % 2)))
    if (text.length > 59) readings.push({ bytes: padded, wrong: 'without its leading zeros; send 64 digits' })
    readings.push({
      bytes: start,
      isStart: true,
      wrong: `cut off after ${text.length} digits; send all of them`,
    })
  }
  const inner = text.length % 2 === 0 ? fromHex(text).toString('latin1') : ''
  if (isHex(inner) && inner.length % 2 === 0)
    readings.push({ bytes: fromHex(inner), wrong: 'encoded twice; send the hexadecimal digits themselves' })
  return readings
}

// An unescaped plus sign in a form becomes a space.
function base64Readings(text: string): HashReading[] {
  const [plain, why] = text.includes(' ') ? [text.replaceAll(' ', '+'), 'base64'] : unescaped(text)
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(plain)) return []
  const kind = /[_-]/.test(plain) ? 'base64url' : why
  const bytes = Buffer.from(plain, 'base64')
  const inner = bytes.toString('latin1')
  return isHex(inner) && inner.length % 2 === 0
    ? [{ bytes: fromHex(inner), wrong: `${kind} of the hexadecimal digits; send the digits themselves` }]
    : [{ bytes, wrong: `${kind}; ${asHex}` }]
}

function unescaped(text: string): [string, string] {
  const plain = text.replace(/%(2b|2f|3d)/gi, escape => decodeURIComponent(escape))
  return plain === text ? [text, 'base64'] : [plain, 'URL-encoded base64']
}

// A digest with something around it, such as the whole output line of a program.
function wrappedReadings(hash: string): HashReading[] {
  const trimmed = hash.trim()
  if (trimmed !== hash)
    return also(plainReadings(trimmed), 'sent with spaces or a line break around it; remove them')
  const quoted = /^(["'`])(.*)\1$/.exec(hash)
  if (quoted) return also(plainReadings(quoted[2] ?? ''), 'sent in quotes; remove them')
  const labelled = /^(0x|[a-z][a-z0-9-]{0,20}(?:\(.{0,40}\))? ?[=:] ?|\(stdin\)= ?)([0-9a-f]+)$/i.exec(hash)
  if (labelled)
    return also(hexReadings(labelled[2] ?? ''), `sent with "${labelled[1]}" before it; send the digits alone`)
  const followed = /^([0-9a-f]{32,})[ \t]+\S.*$/i.exec(hash)
  return followed ? also(hexReadings(followed[1] ?? ''), 'followed by other text; send the digits alone') : []
}

const also = (readings: HashReading[], wrong: string): HashReading[] =>
  readings.map(reading => ({ ...reading, wrong: reading.wrong ? `${wrong}, and ${reading.wrong}` : wrong }))
