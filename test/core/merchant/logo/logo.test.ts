import { deflateSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Logo, readLogo as readWith } from '../../../../src/core/merchant/logo/logo.ts'
import { zip } from '../../../../src/runtime/zip.ts'
import * as made from '../../../support/merchant/pictures.ts'
import { randomBelow } from '../../../support/random.ts'

const { chunk, png, header, dots, plainPng, jpeg, frame, scan, segment, plainJpeg } = made

const readLogo = (given: Buffer) => readWith(given, zip)
const packed = (width = 64, height = width) => chunk('IDAT', deflateSync(dots(width, height)))
const end = chunk('IEND')
const spoiled = (bytes: Buffer, at: number) => {
  const copy = Buffer.from(bytes)
  copy[at] = (copy[at] ?? 0) ^ 1
  return copy
}
const noise = (length: number) => Buffer.from(Array.from({ length }, () => randomBelow(256)))
const colours = (count: number) => chunk('PLTE', Buffer.alloc(count * 3, 7))
const byPalette = (...more: Buffer[]) =>
  png(header(32, 32, 8, 3), ...more, chunk('IDAT', deflateSync(Buffer.alloc(33 * 32))), end)

for (const [what, given, why] of [
  ['nothing', Buffer.alloc(0), 'not a known picture format'],
  ['words', Buffer.from('hello'), 'not a known picture format'],
  [
    'an SVG',
    Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
    'it is an SVG: save it as PNG or JPEG',
  ],
  ['an SVG behind its prologue', Buffer.from('\ufeff<?xml version="1.0"?><svg/>'), 'an SVG'],
  ['a GIF', Buffer.from('GIF89a...'), 'it is a GIF'],
  ['a WebP', Buffer.from('RIFF\x10\0\0\0WEBPVP8 ', 'latin1'), 'it is a WebP'],
  ['an AVIF', Buffer.from('\0\0\0\x1cftypavif', 'latin1'), 'it is an AVIF or HEIC'],
  ['a file that is too large', Buffer.concat([plainPng(), Buffer.alloc(256 * 1024)]), 'more than 256 kB'],
  ['a PNG without an end', png(header(64, 64), packed()), 'damaged'],
  ['a PNG without dots', png(header(64, 64), end), 'damaged'],
  ['a PNG without a header', png(packed(), end), 'damaged'],
  ['a PNG with two headers', png(header(64, 64), header(64, 64), packed(), end), 'damaged'],
  ['a PNG whose header is spoiled', spoiled(plainPng(), 20), 'damaged'],
  ['a PNG whose dots are spoiled', spoiled(plainPng(), 60), 'damaged'],
  ['a PNG that breaks off', plainPng().subarray(0, -20), 'damaged'],
  ['a PNG with fewer dots than it says', png(header(64, 65), packed(), end), 'damaged'],
  ['a PNG with more dots than it says', png(header(64, 63), packed(), end), 'damaged'],
  [
    'a PNG that unpacks to very much',
    png(header(32, 32), chunk('IDAT', deflateSync(Buffer.alloc(2e7))), end),
    'damaged',
  ],
  ['a PNG with dots that are not packed', png(header(64, 64), chunk('IDAT', dots(64, 64)), end), 'damaged'],
  [
    'a PNG with a filter that does not exist',
    png(header(32, 32), chunk('IDAT', deflateSync(dots(32, 32).fill(5))), end),
    'damaged',
  ],
  ['a PNG with a part that must be known', plainPng(64, 64, chunk('EVIL', 'x')), 'damaged'],
  ['a PNG of a kind that does not exist', png(header(64, 64, 8, 5), packed(), end), 'damaged'],
  ['a PNG with dots of 3 bits', png(header(64, 64, 3, 0), packed(), end), 'damaged'],
  ['a PNG with dots taken apart', png(header(64, 64), packed(), colours(2), packed(), end), 'damaged'],
  ['an interlaced PNG', png(header(64, 64, 8, 2, [0, 0, 1]), packed(), end), 'interlaced: save it without'],
  ['a PNG of another packing', png(header(64, 64, 8, 2, [1, 0, 0]), packed(), end), 'damaged'],
  ['a PNG by a palette that is not there', byPalette(), 'damaged'],
  ['a PNG by a palette that is cut', byPalette(chunk('PLTE', 'four')), 'damaged'],
  ['a PNG by a palette that is too long', byPalette(colours(257)), 'damaged'],
  ['a PNG with more transparency than palette', byPalette(colours(2), chunk('tRNS', 'abc')), 'damaged'],
  ['a PNG with odd transparency', plainPng(64, 64, chunk('tRNS', 'abc')), 'damaged'],
  ['a small PNG', plainPng(31, 64), 'it is 31x64: each side has 32 to 512 pixels'],
  ['a large PNG', png(header(513, 64), packed(), end), 'it is 513x64'],
  ['a PNG of a huge size', png(header(0xffffffff, 0xffffffff), packed(), end), 'it is 4294967295x4294967295'],
  [
    'a PNG that packs badly',
    png(
      header(128, 128),
      chunk(
        'IDAT',
        deflateSync(
          Buffer.concat(Array.from({ length: 128 }, () => Buffer.concat([Buffer.alloc(1), noise(384)]))),
        ),
      ),
      end,
    ),
    'at most 32 kB are allowed: make it smaller',
  ],
  ['a JPEG without an end', plainJpeg().subarray(0, -2), 'damaged'],
  ['a JPEG that breaks off', plainJpeg().subarray(0, 30), 'damaged'],
  ['a JPEG without a frame', jpeg(made.quantisation, made.huffman, scan()), 'damaged'],
  ['a JPEG with two frames', plainJpeg(frame(64, 48)), 'damaged'],
  ['a JPEG without a scan', jpeg(made.quantisation, frame(64, 48), made.huffman), 'damaged'],
  ['a JPEG with its frame behind', jpeg(made.quantisation, made.huffman, scan(), frame(64, 48)), 'damaged'],
  [
    'a JPEG with words between',
    jpeg(made.quantisation, Buffer.from('words'), frame(64, 48), scan()),
    'damaged',
  ],
  ['a JPEG with tables that do not fit', plainJpeg(segment(0xc4, 'short')), 'damaged'],
  [
    'a JPEG in too many layers',
    jpeg(made.quantisation, frame(64, 48, 3, 0xc2), made.huffman, ...Array(65).fill(scan())),
    'damaged',
  ],
  [
    'a JPEG for print',
    jpeg(made.quantisation, frame(64, 48, 4), made.huffman, scan()),
    'unsupported format: save it as PNG',
  ],
  ['a JPEG without loss', jpeg(made.quantisation, frame(64, 48, 3, 0xc3), scan()), 'unsupported format'],
  ['a JPEG by arithmetic', jpeg(made.quantisation, frame(64, 48, 3, 0xc9), scan()), 'unsupported format'],
  [
    'a JPEG whose colours only a program of its own knows',
    plainJpeg(segment(0xee, 'Adobe\0\x64\0\0\0\0\0')),
    'unsupported format',
  ],
  ['a small JPEG', jpeg(made.quantisation, frame(31, 48), made.huffman, scan()), 'it is 31x48'],
  [
    'a JPEG of a huge size',
    jpeg(made.quantisation, frame(65_535, 65_535), made.huffman, scan()),
    'it is 65535x65535',
  ],
  [
    'a JPEG of too many bytes',
    jpeg(made.quantisation, frame(64, 48), made.huffman, scan(Buffer.alloc(33_000, 1))),
    'at most 32 kB',
  ],
] as const)
  test(`not shown: ${what}`, () => expect(readLogo(given)).toContain(why))

const taken = (given: Buffer): Logo => {
  const logo = readLogo(given)
  if (typeof logo === 'string') throw new Error(logo)
  return logo
}

for (const [what, given, size] of [
  ['a PNG', plainPng(), [64, 64]],
  ['the smallest PNG', plainPng(32), [32, 32]],
  ['the largest PNG', plainPng(512), [512, 512]],
  ['a PNG by a palette', byPalette(colours(2), chunk('tRNS', 'a')), [32, 32]],
  [
    'a grey PNG of one bit',
    png(header(33, 40, 1, 0), chunk('IDAT', deflateSync(Buffer.alloc(6 * 40))), end),
    [33, 40],
  ],
  [
    'a PNG with transparency',
    png(header(32, 32, 16, 6), chunk('IDAT', deflateSync(Buffer.alloc((1 + 32 * 8) * 32))), end),
    [32, 32],
  ],
  [
    'a PNG with its dots in two parts',
    png(
      header(64, 64),
      chunk('IDAT', deflateSync(dots(64, 64)).subarray(0, 9)),
      chunk('IDAT', deflateSync(dots(64, 64)).subarray(9)),
      end,
    ),
    [64, 64],
  ],
  ['a JPEG', plainJpeg(), [64, 48]],
  [
    'a grey JPEG',
    jpeg(
      made.quantisation,
      frame(64, 48, 1),
      made.huffman,
      Buffer.concat([segment(0xda, Buffer.from([1, 1, 0, 0, 63, 0])), Buffer.from('dots')]),
    ),
    [64, 48],
  ],
  [
    'a JPEG in layers',
    jpeg(made.quantisation, frame(64, 48, 3, 0xc2), made.huffman, scan(), made.huffman, scan()),
    [64, 48],
  ],
] as const)
  test(`shown: ${what}`, () => {
    const logo = taken(given)
    expect([logo.width, logo.height]).toEqual(size)
    expect(taken(logo.bytes)).toEqual(logo)
  })

const secret = 'taken at home, 5.6037 N 0.1870 W'

for (const [what, given, plain] of [
  ['words of a PNG', plainPng(64, 64, chunk('tEXt', `Comment\0${secret}`)), plainPng()],
  ['a profile of a PNG', plainPng(64, 64, chunk('iCCP', secret)), plainPng()],
  ['where a PNG was taken', plainPng(64, 64, chunk('eXIf', secret)), plainPng()],
  ['what is behind a PNG', Buffer.concat([plainPng(), Buffer.from(secret)]), plainPng()],
  [
    'what is behind the dots of a PNG',
    png(header(64, 64), chunk('IDAT', Buffer.concat([deflateSync(dots(64, 64)), Buffer.from(secret)])), end),
    plainPng(),
  ],
  ['a palette that a PNG does not need', plainPng(64, 64, chunk('PLTE', 'abc')), plainPng()],
  ['where a JPEG was taken', plainJpeg(segment(0xe1, `Exif\0\0${secret}`)), plainJpeg()],
  ['a profile of a JPEG', plainJpeg(segment(0xe2, `ICC_PROFILE\0${secret}`)), plainJpeg()],
  ['words of a JPEG', plainJpeg(segment(0xfe, secret)), plainJpeg()],
  ['what is behind a JPEG', Buffer.concat([plainJpeg(), Buffer.from(secret)]), plainJpeg()],
  ['filling between the parts of a JPEG', plainJpeg(Buffer.from([0xff, 0xff])), plainJpeg()],
] as const)
  test(`left out: ${what}`, () => {
    expect(taken(given).bytes).toEqual(taken(plain).bytes)
    expect(taken(given).bytes.includes(secret)).toBe(false)
  })

// Whatever is done to a picture: it is taken or refused in words, at once, and what was taken is taken again as it is.
test('any bytes give a logo that is accepted again unchanged, or a reason', () => {
  const whole = fc.constantFrom(
    plainPng(),
    plainPng(40, 33, chunk('tEXt', secret)),
    byPalette(colours(9)),
    plainJpeg(),
    plainJpeg(segment(0xe0, 'JFIF')),
  )
  const change = fc.record({ at: fc.nat(400), cut: fc.nat(3), put: fc.uint8Array({ maxLength: 4 }) })
  const near = fc
    .tuple(whole, fc.array(change, { maxLength: 3 }))
    .map(([bytes, changes]) =>
      changes.reduce(
        (now, { at, cut, put }) => Buffer.concat([now.subarray(0, at), put, now.subarray(at + cut)]),
        bytes,
      ),
    )
  const parts = fc.array(
    fc.oneof(
      fc
        .tuple(
          fc.constantFrom('IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND', 'acTL'),
          fc.uint8Array({ maxLength: 20 }),
        )
        .map(([type, data]) => chunk(type, Buffer.from(data))),
      fc.constant(header(32, 32)),
      fc.constant(packed(32)),
    ),
  )
  const pieces = fc.array(
    fc
      .tuple(fc.integer({ min: 0xc0, max: 0xfe }), fc.uint8Array({ maxLength: 70 }))
      .map(([marker, data]) => segment(marker, Buffer.from(data))),
  )
  const anything = fc.oneof(
    near,
    parts.map(chunks => png(...chunks, end)),
    pieces.map(some => plainJpeg(...some)),
    fc.uint8Array({ maxLength: 300 }).map(bytes => Buffer.from(bytes)),
    fc.uint8Array({ maxLength: 300 }).map(bytes => Buffer.concat([made.pngHead, bytes])),
    fc
      .uint8Array({ maxLength: 300 })
      .map(bytes => Buffer.concat([made.startOfImage, Buffer.from([0xff]), bytes])),
  )
  fc.assert(
    fc.property(anything, given => {
      const logo = readLogo(given)
      if (typeof logo === 'string') expect(logo).not.toBe('')
      else expect(readLogo(logo.bytes)).toEqual(logo)
    }),
    { numRuns: 4000 },
  )
})
