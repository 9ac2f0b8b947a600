import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { boundaryOf, parseMultipart } from '../../../src/core/interface/multipart.ts'

const lines = (...all: string[]) => all.join('\r\n')
const read = (text: string, boundary = 'x') => parseMultipart(Buffer.from(text), boundary)

for (const [header, boundary] of [
  ['multipart/form-data; boundary=x', 'x'],
  ['multipart/form-data; boundary="----=_Part 1; x"', '----=_Part 1; x'], // .NET and Java quote theirs
  ['multipart/form-data;boundary=*****;charset=utf-8', '*****'],
  ['Multipart/Form-Data; charset="utf-8; boundary=no" ; Boundary=x ;', 'x'],
  ['multipart/form-data; charset; boundary=x', 'x'],
  ['multipart/form-data; boundary=x; boundary=x', 'x'],
  ['multipart/form-data; boundary=x; boundary=y', undefined],
  ['multipart/form-data; boundary="x', undefined],
  ['multipart/form-data; boundary="x"y', undefined],
  ['multipart/form-data; boundary=', undefined],
  ['multipart/form-data; boundary=""', undefined],
  ['multipart/form-data', undefined],
] as const)
  test(`the boundary of ${header}`, () => expect(boundaryOf(header)).toBe(boundary))

const total = 'Content-Disposition: form-data; name="total"'
const fields = [
  ['total', '25.00'],
  ['name', 'Ama'],
] as const

// What the clients of shops really send.
describe('both fields are read, as sent by', () => {
  for (const [client, text, boundary] of [
    [
      'curl and PHP',
      lines(
        '--------------------------d74496d66958873e',
        'Content-Disposition: form-data; name="total"',
        '',
        '25.00',
        '--------------------------d74496d66958873e',
        'Content-Disposition: form-data; name="name"',
        '',
        'Ama',
        '--------------------------d74496d66958873e--',
        '',
      ),
      '------------------------d74496d66958873e',
    ],
    [
      'Python requests',
      lines(
        '--3b2d',
        'Content-Disposition: form-data; name="total"',
        '',
        '25.00',
        '--3b2d',
        'Content-Disposition: form-data; name="name"',
        '',
        'Ama',
        '--3b2d--',
        '',
      ),
      '3b2d',
    ],
    [
      '.NET, which does not quote names',
      lines(
        '--0f1b-77',
        'Content-Type: text/plain; charset=utf-8',
        'Content-Disposition: form-data; name=total',
        '',
        '25.00',
        '--0f1b-77',
        'Content-Type: text/plain; charset=utf-8',
        'Content-Disposition: form-data; name=name',
        '',
        'Ama',
        '--0f1b-77--',
        '',
      ),
      '0f1b-77',
    ],
    [
      'Apache HttpClient, with an encoding for each part',
      lines(
        '--x',
        'Content-Disposition: form-data; name="total"',
        'Content-Type: text/plain; charset=ISO-8859-1',
        'Content-Transfer-Encoding: 8bit',
        '',
        '25.00',
        '--x',
        'Content-Disposition: form-data; name="name"',
        'Content-Type: text/plain; charset=UTF-8',
        'Content-Transfer-Encoding: base64',
        '',
        'QW1h',
        '--x--',
        '',
      ),
    ],
    [
      'Android code that writes its own lines, with *****',
      lines(
        '--*****',
        'Content-Disposition: form-data; name="total"',
        '',
        '25.00',
        '--*****',
        'Content-Disposition: form-data; name="name"',
        '',
        'Ama',
        '--*****--',
        '',
      ),
      '*****',
    ],
    [
      'a mail library, with text before and after, and padding',
      lines(
        'This is a multi-part message in MIME format.',
        '--x \t',
        'content-disposition:form-data;name="total"',
        'Content-Length: 5',
        'X-Anything: at all',
        '',
        '25.00',
        '--x',
        'CONTENT-DISPOSITION: FORM-DATA; NAME="name"',
        '',
        'Ama',
        '--x-- ',
        '--x',
        'This is ignored.',
      ),
    ],
  ] as const)
    test(client, () => expect(read(text, boundary)).toEqual(fields))
})

for (const [what, text, parts] of [
  ['no part', '--x--', []],
  ['line breaks around it', '\r\n\r\n--x--\r\n\r\n', []],
  ['an empty value', lines('--x', total, '', '', '--x--'), [['total', '']]],
  ['a byte order mark', lines('--x', total, '', '\ufeffa', '--x--'), [['total', 'a']]],
  ['no value', lines('--x', total, '', '--x--'), [['total', '']]],
  ['line breaks in a value', lines('--x', total, '', '', 'a', '', '--x--'), [['total', '\r\na\r\n']]],
  ['a value like the boundary', lines('--x', total, '', 'x--x -\r--x', '--x--'), [['total', 'x--x -\r--x']]],
  [
    'a delimiter that begins twice',
    lines('--x', total, '', 'a\r\n\r\n-\r', '--x--'),
    [['total', 'a\r\n\r\n-\r']],
  ],
  [
    'escapes in a name',
    lines('--x', 'Content-Disposition: form-data; name="%22%0D%0a\\"', '', '', '--x--'),
    [['"\r\n\\', '']],
  ],
  [
    'a name that is no English',
    lines('--x', 'Content-Disposition: form-data; name="prénom"', '', 'É', '--x--'),
    [['prénom', 'É']],
  ],
  [
    'a file',
    lines('--x', `${total}; filename="a.txt"`, 'Content-Type: text/plain', '', 'a', '--x--'),
    [['total', undefined]],
  ],
  ['a file input left empty', lines('--x', `${total}; filename=""`, '', '', '--x--'), [['total', undefined]]],
  [
    'a file with an encoded name',
    lines('--x', `${total}; filename*=UTF-8''a`, '', '', '--x--'),
    [['total', undefined]],
  ],
  [
    'a file named first',
    lines('--x', 'Content-Disposition: form-data; filename=a; name=total', '', '', '--x--'),
    [['total', undefined]],
  ],
] as const)
  test(`${what} is read`, () => expect(read(text)).toEqual(parts))

test('bytes that are no UTF-8 become replacement characters, whatever charset is named', () => {
  const body = Buffer.from(
    lines('--x', total, 'Content-Type: text/plain; charset=latin1', '', '\xe9', '--x--'),
    'latin1',
  )
  expect(parseMultipart(body, 'x')).toEqual([['total', '\ufffd']])
})

const manyParts = (count: number) => `${lines('--x', total, '', '1', '').repeat(count)}--x--`
const longHeader = (bytes: number) => lines('--x', total, `X: ${'a'.repeat(bytes)}`, '', '1', '--x--')

test('200 parts and a header of 4 KiB are read', () => {
  expect(read(manyParts(200))).toHaveLength(200)
  expect(read(longHeader(4000))).toHaveLength(1)
})

for (const [what, text, fault] of [
  ['nothing', '', 'not valid'],
  ['text', 'merchant_key=a', 'not valid'],
  ['no end', lines('--x', total, '', '25.00', ''), 'not valid'],
  ['half an end', lines('--x', total, '', '25.00', '--x-'), 'not valid'],
  ['a longer boundary', lines('--x', total, '', '25.00', '--xy--', '--x--'), 'not valid'],
  ['words behind the end', lines('--x', total, '', '25.00', '--x--y'), 'not valid'],
  [
    'lines that end in a line feed',
    lines('--x', total, '', '25.00', '--x--').replaceAll('\r\n', '\n'),
    'not valid',
  ],
  ['a header line that ends in a line feed', lines('--x', `A: b\n${total}`, '', '', '--x--'), 'not valid'],
  ['no header', lines('--x', '', '25.00', '--x--'), 'not valid'],
  ['no header and no empty line', lines('--x', '25.00', '--x--'), 'has no end'],
  ['no disposition', lines('--x', 'Content-Type: text/plain', '', '25.00', '--x--'), 'not valid'],
  ['two dispositions', lines('--x', total, total, '', '25.00', '--x--'), 'not valid'],
  [
    'another disposition',
    lines('--x', 'Content-Disposition: attachment; name="total"', '', '1', '--x--'),
    'not valid',
  ],
  ['no name', lines('--x', 'Content-Disposition: form-data', '', '25.00', '--x--'), 'not valid'],
  ['two names', lines('--x', `${total}; name="name"`, '', '25.00', '--x--'), 'not valid'],
  [
    'a name without an end',
    lines('--x', 'Content-Disposition: form-data; name="total', '', '1', '--x--'),
    'not valid',
  ],
  ['words behind the name', lines('--x', `${total}l`, '', '1', '--x--'), 'not valid'],
  [
    'a header in two lines',
    lines('--x', 'Content-Disposition: form-data;', ' name="total"', '', '1', '--x--'),
    'not valid',
  ],
  ['a delimiter as a header', lines('--x', total, '--x: 1', '', '1', '--x--'), 'not valid'],
  ['a header of 21 parameters', lines('--x', `${total}${'; a=b'.repeat(20)}`, '', '1', '--x--'), 'not valid'],
  ['201 parts', manyParts(201), 'more than 200 parts'],
  ['a header of 5 KiB', longHeader(5000), 'larger than 4 KiB'],
] as const)
  test(`${what} is refused: ${fault}`, () => expect(read(text)).toContain(fault))

// The reader of Node is the one that we had. It takes nothing before or behind the parts, and quoted names alone.
async function readByNode(body: Uint8Array, boundary: string) {
  const headers = { 'content-type': `multipart/form-data; boundary="${boundary}"` }
  const form = await new Response(new Uint8Array(body), { headers }).formData()
  return [...form].map(([name, value]) => [name, typeof value === 'string' ? value : undefined])
}

const words = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('\r', '\n', '-', 'x', '"', '\\', ' ', '%22', ';', '=') }),
)

test('every form that Node writes has the same fields as by the reader of Node', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(words, words), { maxLength: 20 }), async all => {
      const form = new FormData()
      for (const [name, value] of all) form.append(name.toWellFormed(), value.toWellFormed())
      const written = new Response(form)
      const boundary = boundaryOf(written.headers.get('content-type') ?? '') ?? ''
      const body = Buffer.from(await written.arrayBuffer())
      expect(parseMultipart(body, boundary)).toEqual(await readByNode(body, boundary))
    }),
    { numRuns: 500 },
  )
})

const piece = fc.constantFrom(
  '--x',
  '\r\n',
  '\r\n--x',
  '\r\n--x--',
  '\r\n\r\n',
  '--',
  '-',
  'x',
  '\r',
  '\n',
  ' ',
  '"',
  '; ',
  'é',
  '\xff',
  'Content-Disposition: form-data; name="a"',
  'content-disposition: form-data; name="b"; filename="c"',
  'Content-Type: text/plain; charset=utf-8',
  'Content-Transfer-Encoding: base64',
  'QW1h',
  'X-Y: z',
)
const part = fc
  .tuple(
    fc.subarray(['X-Y: z', 'Content-Type: text/plain', 'Content-Transfer-Encoding: base64']),
    fc.array(piece, { maxLength: 5 }),
  )
  .map(([more, value]) => `--x\r\n${[total, ...more].join('\r\n')}\r\n\r\n${value.join('')}\r\n`)

test('whatever the reader of Node can read has the same fields by ours', async () => {
  let readable = 0
  const bodies = fc.array(fc.oneof({ weight: 4, arbitrary: part }, piece), { maxLength: 6 })
  await fc.assert(
    fc.asyncProperty(bodies, fc.constantFrom('--x--', '--x--\r\n', ''), async (all, end) => {
      const body = Buffer.from(all.join('') + end)
      const known = await readByNode(body, 'x').catch(() => undefined)
      if (!known || /\n-[^\r\n]*:/.test(String(body))) return // Node takes a delimiter for the name of a header
      readable++
      expect(parseMultipart(body, 'x')).toEqual(known)
    }),
    { numRuns: 5000 },
  )
  expect(readable).toBeGreaterThan(500)
})

// Counts each byte that the parser reads or passes on.
function counted(body: Buffer) {
  let visits = 0
  const bytes = new Proxy(body, {
    get(target, key) {
      if (key === 'subarray')
        return (from: number, to: number) => {
          visits += to - from
          return target.subarray(from, to)
        }
      if (typeof key === 'string' && /^\d+$/.test(key)) visits++
      return Reflect.get(target, key, target) as unknown
    },
  })
  return { bytes, visits: () => visits }
}

const filled = (size: number, unit: string) => unit.repeat(Math.ceil(size / unit.length)).slice(0, size)
const open = (boundary: string) => `--${boundary}\r\n${total}\r\n\r\n`
const half = 'a'.repeat(35)

describe('linear work', () => {
  for (const [what, boundary, make] of [
    ['one long value', 'x', (size: number) => open('x') + filled(size, 'a')],
    [
      'a value that nearly is the boundary',
      `${half}b${half.slice(1)}`,
      size => open(`${half}b${half.slice(1)}`) + filled(size, 'a'),
    ],
    ['delimiters that are nearly whole', half, size => open(half) + filled(size, `\r\n--${half.slice(1)}`)],
    ['carriage returns', 'x', size => open('x') + filled(size, '\r')],
    ['line breaks', 'x', size => open('x') + filled(size, '\r\n')],
    ['line breaks before the first delimiter', 'x', size => filled(size, '\r\n')],
    ['dashes', '-'.repeat(70), size => filled(size, '-')],
    ['padding', 'x', size => `--x${filled(size, ' ')}`],
    ['headers without an end', 'x', size => `--x\r\n${filled(size, 'a: b\r\n')}`],
    ['small parts', 'x', size => filled(size, `${open('x')}1\r\n`)],
    [
      'parts with long headers',
      'x',
      size => filled(size, `--x\r\n${total}\r\na: ${'b'.repeat(4000)}\r\n\r\n1\r\n`),
    ],
  ] as [string, string, (size: number) => string][])
    test(`${what}: the reader visits no byte more than four times`, () => {
      for (const size of [16_384, 65_536]) {
        const body = Buffer.from(make(size))
        const { bytes, visits } = counted(body)
        parseMultipart(bytes, boundary)
        expect(visits()).toBeLessThan(4 * body.length)
      }
    })
})
