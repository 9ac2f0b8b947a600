import fc from 'fast-check'
import { expect, test } from 'vitest'
import { listen, onRequest, post } from '../support.ts'
import { answers, cut, readAll } from './responseTable.ts'

type Mutation = { at: number; remove: number; insert: Buffer }

// Likely trouble: ends of lines, numbers, beginnings, and any byte.
const harm = fc.oneof(
  fc.constantFrom('\r', '\n', '\r\n', '\r\n\r\n', '\0', ' ', ':', ';', ',', '0', '-', 'f', '\xff'),
  fc.constantFrom(
    'HTTP/1.1 200 OK\r\n',
    'HTTP/1.0 ',
    'content-length: 3\r\n',
    'Transfer-Encoding: chunked\r\n',
  ),
  fc.uint8Array({ maxLength: 4 }).map(bytes => Buffer.from(bytes).toString('latin1')),
)
const mutation: fc.Arbitrary<Mutation> = fc.record({
  at: fc.nat(200),
  remove: fc.oneof(fc.constantFrom(0, 1, 2), fc.nat(30)),
  insert: harm.map(text => Buffer.from(text, 'latin1')),
})
const mutated = fc
  .tuple(fc.constantFrom(...answers.map(([, text]) => text)), fc.array(mutation, { maxLength: 4 }))
  .map(([text, mutations]) => mutations.reduce(mutate, Buffer.from(text, 'latin1')))

const mutate = (bytes: Buffer, { at, remove, insert }: Mutation): Buffer =>
  Buffer.concat([bytes.subarray(0, at), insert, bytes.subarray(at + remove)])

// A second implementation: skips interim answers to the first line of the last one.
function statusLineOf(bytes: Buffer): string | undefined {
  const heads = bytes.toString('latin1').split('\r\n\r\n').slice(0, -1)
  const last = heads.find(text => !/^HTTP\/1\.[01] 1/.test(text))
  return last?.split('\r\n')[0]
}

const isWellFormed = (line = '') => /^HTTP\/1\.[01] [2-9]\d\d( [^\r\n\0]*)?$/.test(line)

test('thousands of broken answers: nothing is thrown, however they are cut the result is the same', () => {
  fc.assert(
    fc.property(mutated, fc.array(fc.nat(300), { maxLength: 6 }), (bytes, at) => {
      const whole = readAll([bytes])
      const cuts = at.filter(one => one > 0 && one < bytes.length).sort((a, b) => a - b)
      expect(readAll(cut(bytes, cuts))).toEqual(whole)
      if (whole.head) expect(isWellFormed(statusLineOf(bytes))).toBe(true)
      if (whole.head) expect(whole.head.status).toBe(Number(statusLineOf(bytes)?.slice(9, 12)))
      if (whole.reusable) expect(whole.over && whole.head?.isKept).toBe(true)
      expect(whole.fault !== '' && whole.head !== undefined).toBe(false)
    }),
    { numRuns: 5000 },
  )
})

// Each answer is requested by its number.
async function serve(broken: readonly Buffer[], closes: boolean) {
  return listen(
    onRequest((socket, request) => {
      const bytes = broken[Number(/\d+/.exec(request)?.[0])] as Buffer
      if (closes) socket.end(bytes)
      else socket.write(bytes)
    }),
  )
}

for (const [what, closes, count, limitMs] of [
  ['and then closed', true, 600, 5000],
  ['and then silence', false, 300, 10_000 + 3000],
] as const) {
  test(`broken answers on a real connection, ${what}: each ends in time`, async () => {
    const broken = fc.sample(mutated, count)
    const { url } = await serve(broken, closes)
    const results = await Promise.all(
      broken.map((_, index) => post(`${url}${index}`, { lane: String(index) })),
    )
    for (const [index, { status, failure, ms }] of results.entries()) {
      const read = readAll([broken[index] as Buffer])
      expect(status).toBe(read.head?.status ?? null)
      expect(failure === null).toBe(status !== null)
      if (read.fault) expect(failure).toBe('bad_answer')
      expect(ms).toBeLessThan(limitMs)
    }
  })
}
