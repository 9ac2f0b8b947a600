// multipart/form-data (RFC 7578) as shops' forms send it: text fields of at most 64 KiB together. A file is reported
// and not read. The reader visits each byte a fixed number of times, whatever the boundary and the body are: the
// delimiter begins with the only carriage return that it has, so a partial match never overlaps the next one.
export const maxBoundaryLength = 70 // RFC 2046
const maxParts = 200
const maxPartHeaderBytes = 4096
const maxParameters = 20 // of one header

// A part without a value is a file.
type Part = readonly [name: string, value: string | undefined, file?: Uint8Array]

const tab = 0x09
const lineFeed = 0x0a
const carriageReturn = 0x0d
const space = 0x20
const dash = 0x2d

const notMultipart = 'The body is not valid multipart/form-data.'

// The boundary in a Content-Type header; undefined if there is none, or two different ones.
export function boundaryOf(contentType: string): string | undefined {
  const values = parametersOf(contentType).flatMap(([name, value]) => (name === 'boundary' ? [value] : []))
  return new Set(values).size === 1 && values[0] !== '' ? values[0] : undefined
}

// Returns the parts, or the sentence that says what is wrong. Text before the first delimiter and after the last one
// is ignored, as RFC 2046 requires. Only forms of our own pages have files that are kept.
export function parseMultipart(bytes: Uint8Array, boundary: string, keepsFiles = false): Part[] | string {
  const delimiter = Uint8Array.from(`\r\n--${boundary}`, char => char.charCodeAt(0))
  const parts: Part[] = []
  let at = afterFirst(bytes, delimiter)
  for (;;) {
    if (at > bytes.length) return notMultipart // there is no delimiter
    const isLast = bytes[at] === dash && bytes[at + 1] === dash
    at = skipPadding(bytes, isLast ? at + 2 : at)
    if (isLast) return at === bytes.length || isLineEnd(bytes, at) ? parts : notMultipart
    if (!isLineEnd(bytes, at)) return notMultipart
    if (parts.length === maxParts) return `The body has more than ${maxParts} parts.`
    const headerAt = at + 2
    const headerEnd = findEmptyLine(bytes, headerAt)
    if (headerEnd === undefined)
      return `The header of a part is larger than ${maxPartHeaderBytes / 1024} KiB, or has no end.`
    const header = readHeader(utf8.decode(bytes.subarray(headerAt, headerEnd)))
    if (!header) return notMultipart
    const end = find(bytes, headerEnd, delimiter) // the line break of the empty line may be the delimiter's
    if (end > bytes.length) return notMultipart
    const value = bytes.subarray(Math.min(headerEnd + 2, end), end)
    if (!header.isFile) parts.push([header.name, textOf(value, header.isBase64)])
    else parts.push(keepsFiles ? [header.name, undefined, value] : [header.name, undefined])
    at = end + delimiter.length
  }
}

// A charset that a part or a `_charset_` field names is ignored: every text is UTF-8 here.
const utf8 = new TextDecoder()

const textOf = (value: Uint8Array, isBase64: boolean) =>
  utf8.decode(isBase64 ? Buffer.from(utf8.decode(value), 'base64') : value)

// At the start of the body the first delimiter needs no line break before it.
function afterFirst(bytes: Uint8Array, delimiter: Uint8Array): number {
  const bare = delimiter.subarray(2)
  return bare.every((byte, at) => bytes[at] === byte)
    ? bare.length
    : find(bytes, 0, delimiter) + delimiter.length
}

// Returns a position beyond the end if there is no delimiter.
function find(bytes: Uint8Array, from: number, delimiter: Uint8Array): number {
  let at = from
  while (at < bytes.length) {
    if (bytes[at] !== carriageReturn) {
      at++
      continue
    }
    let matched = 1
    while (matched < delimiter.length && bytes[at + matched] === delimiter[matched]) matched++
    if (matched === delimiter.length) return at
    at += matched
  }
  return bytes.length + 1
}

const isLineEnd = (bytes: Uint8Array, at: number) =>
  bytes[at] === carriageReturn && bytes[at + 1] === lineFeed

function skipPadding(bytes: Uint8Array, from: number): number {
  let at = from
  while (bytes[at] === space || bytes[at] === tab) at++
  return at
}

// The position of the empty line that ends a part's header.
function findEmptyLine(bytes: Uint8Array, from: number): number | undefined {
  const limit = Math.min(bytes.length, from + maxPartHeaderBytes)
  for (let at = from; at < limit; at++)
    if (
      isLineEnd(bytes, at) &&
      (at === from || (bytes[at - 1] === lineFeed && bytes[at - 2] === carriageReturn))
    )
      return at
  return undefined
}

type PartHeader = { name: string; isFile: boolean; isBase64: boolean }

function readHeader(text: string): PartHeader | undefined {
  let name: string | undefined
  let isFile = false
  let isBase64 = false
  for (const line of text.split('\r\n').slice(0, -1)) {
    const [, header = '', value = ''] = /^([a-z][\w-]*)[ \t]*:[ \t]*([^\r\n]*)$/i.exec(line) ?? []
    if (header === '') return undefined
    if (/^content-disposition$/i.test(header)) {
      const parameters = parametersOf(value)
      const names = parameters.flatMap(([key, named]) => (key === 'name' ? [named] : []))
      if (name !== undefined || names.length !== 1 || !/^form-data[ \t]*;/i.test(value)) return undefined
      name = unescaped(names[0] as string)
      isFile = parameters.some(([key]) => key === 'filename' || key === 'filename*')
    } else if (/^content-transfer-encoding$/i.test(header)) isBase64 = /^base64[ \t]*$/i.test(value)
  }
  return name === undefined ? undefined : { name, isFile, isBase64 }
}

// Browsers escape these three in a name, and nothing else.
const unescaped = (name: string) => name.replace(/%0a/gi, '\n').replace(/%0d/gi, '\r').replace(/%22/g, '"')

// What follows the first semicolon of a header: `; name=value; name="value"`. A backslash in quotes is a backslash, as
// browsers write it. A text that cannot be read to its end, or has too many parameters, has none.
function parametersOf(text: string): [name: string, value: string][] {
  const parameters: [string, string][] = []
  const parameter = /;[ \t]*([^\s;="]*)[ \t]*(?:=[ \t]*(?:"([^"]*)"[ \t]*|([^;"]*)))?/y
  parameter.lastIndex = text.indexOf(';')
  while (parameter.lastIndex >= 0 && parameter.lastIndex < text.length) {
    const match = parameter.exec(text)
    if (!match || parameters.length === maxParameters) return []
    const [, name = '', quoted, plain = ''] = match
    parameters.push([name.toLowerCase(), quoted ?? plain.trim()])
  }
  return parameters
}
