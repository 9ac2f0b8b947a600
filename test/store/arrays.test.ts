import fc from 'fast-check'
import { join } from 'sql-template-tag'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { blobs, integers, texts, times } from '../../src/store/arrays.ts'
import { type Db, openDb, type Query, sql } from '../../src/store/db.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'

let database: FreshDatabase
let db: Db
beforeAll(async () => {
  database = await freshDatabase()
  db = openDb(database.url, 2)
})
afterAll(async () => {
  await db.end()
  await database.drop()
})

// Many arrays in one statement: what PostgreSQL reads in each, and whether it is what the driver writes as text.
async function readBack<Value>(type: Query, arrays: readonly Value[][], write: (values: Value[]) => Buffer) {
  const rows = arrays.map(
    (values, place) => sql`(${place}::integer, ${write(values)}::${type}, ${values}::${type})`,
  )
  return db.rows<{ read: unknown[]; same: boolean }>(sql`
    select written as read, written = expected as same from (values ${join(rows)}) as v (place, written, expected)
    order by place`)
}

const hexOf = (value: unknown) => (value as Buffer | null)?.toString('hex')

const orNull = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { freq: 8 })
const arraysOf = <Value>(value: fc.Arbitrary<Value>) =>
  fc.array(fc.array(orNull(value), { maxLength: 20 }), { minLength: 1, maxLength: 30 })

const awkward = [
  '"',
  "'",
  '\\',
  ',',
  '{',
  '}',
  '\n',
  '\r',
  '\t',
  ' ',
  'NULL',
  '\\x00',
  'é',
  '₵',
  '😀',
  '\u{10ffff}',
]
const letter = fc.oneof(
  fc.constantFrom(...awkward),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }).filter(one => one !== '\0'),
)
const text = fc.oneof(
  { weight: 10, arbitrary: fc.string({ unit: letter, maxLength: 30 }) },
  {
    weight: 1,
    arbitrary: fc.tuple(letter, fc.integer({ min: 0, max: 20_000 })).map(([one, count]) => one.repeat(count)),
  },
)

describe('what PostgreSQL reads is what was written', () => {
  test('texts', () =>
    fc.assert(
      fc.asyncProperty(arraysOf(text), async arrays => {
        const read = await readBack(sql`text[]`, arrays, texts)
        expect(read).toEqual(arrays.map(values => ({ read: values, same: true })))
      }),
      { numRuns: 40 },
    ))

  test('integers', () =>
    fc.assert(
      fc.asyncProperty(arraysOf(fc.integer()), async arrays => {
        const read = await readBack(sql`integer[]`, arrays, integers)
        expect(read).toEqual(arrays.map(values => ({ read: values, same: true })))
      }),
      { numRuns: 40 },
    ))

  const large = fc.integer({ min: 0, max: 100_000 }).map(size => Buffer.alloc(size, `${size}`))
  const blob = fc.oneof(
    { weight: 10, arbitrary: fc.uint8Array({ maxLength: 60 }).map(bytes => Buffer.from(bytes)) },
    { weight: 1, arbitrary: large },
  )
  test('blobs', () =>
    fc.assert(
      fc.asyncProperty(arraysOf(blob), async arrays => {
        const read = await readBack(sql`bytea[]`, arrays, blobs)
        expect(read.map(one => one.same)).toEqual(arrays.map(() => true))
        expect(read.map(one => one.read.map(hexOf))).toEqual(arrays.map(values => values.map(hexOf)))
      }),
      { numRuns: 40 },
    ))

  const anyTime = fc.date({
    min: new Date('-004700-01-01T00:00:00Z'), // about the first that PostgreSQL knows
    max: new Date(8.64e15), // the last that we know
    noInvalidDate: true,
  })
  const nearTime = fc.date({ min: new Date('1960-01-01'), max: new Date('2050-01-01'), noInvalidDate: true })
  test('times, to the microsecond', () =>
    fc.assert(
      fc.asyncProperty(arraysOf(fc.oneof(anyTime, nearTime)), async arrays => {
        expect(await microsecondsOf(arrays)).toEqual(
          arrays.map(values => values.map(value => value && BigInt(value.getTime()) * 1000n)),
        )
      }),
      { numRuns: 40 },
    ))

  for (const moment of [
    '0001-01-01T00:00:00.000Z',
    '1752-09-14T23:59:59.999Z',
    '1969-12-31T23:59:59.999Z',
    '1970-01-01T00:00:00.001Z',
    '1999-12-31T23:59:59.999Z', // the last before PostgreSQL counts
    '2000-01-01T00:00:00.000Z',
    '2000-01-01T00:00:00.001Z',
    '2038-01-19T03:14:08.007Z',
    '9999-12-31T23:59:59.999Z',
  ])
    test(moment, async () => {
      const at = new Date(moment)
      expect(await microsecondsOf([[null, at, at]])).toEqual([
        [null, BigInt(at.getTime()) * 1000n, BigInt(at.getTime()) * 1000n],
      ])
    })
})

async function microsecondsOf(arrays: readonly (Date | null)[][]) {
  const rows = arrays.map((values, place) => sql`(${place}::integer, ${times(values)}::timestamptz[])`)
  const read = await db.rows<{ read: (string | null)[] }>(sql`
    select array(
        select (extract(epoch from t.at) * 1000000)::bigint::text
        from unnest(written) with ordinality as t (at, nth) order by nth) as read
    from (values ${join(rows)}) as v (place, written) order by place`)
  return read.map(one => one.read.map(value => (value === null ? null : BigInt(value))))
}

for (const [what, type, write] of [
  ['texts', sql`text[]`, texts([])],
  ['integers', sql`integer[]`, integers([])],
  ['times', sql`timestamptz[]`, times([])],
  ['blobs', sql`bytea[]`, blobs([])],
] as const)
  test(`no ${what} are the empty array`, async () => {
    expect(
      await db.one(sql`select ${write}::${type} = '{}' as same, cardinality(${write}::${type}) as length`),
    ).toEqual({ same: true, length: 0 })
  })

test('arrays of a statement keep their places beside each other', async () => {
  const rows = await db.rows(sql`
    select * from unnest(${texts(['a', null, ''])}::text[], ${integers([-1, 2 ** 31 - 1, null])}::integer[],
      ${times([null, new Date(0), new Date(-1)])}::timestamptz[],
      ${blobs([Buffer.alloc(0), null, Buffer.of(0, 255)])}::bytea[]) as t (a, b, c, d)`)
  expect(rows).toEqual([
    { a: 'a', b: -1, c: null, d: Buffer.alloc(0) },
    { a: null, b: 2 ** 31 - 1, c: new Date(0), d: null },
    { a: '', b: null, c: new Date(-1), d: Buffer.of(0, 255) },
  ])
})

for (const value of ['\0', 'before\0after', 'at the end\0'])
  test(`${JSON.stringify(value)} is refused, and not cut`, async () => {
    await expect(db.rows(sql`select ${texts(['ok', value, 'ok'])}::text[]`)).rejects.toMatchObject({
      code: '22021',
    })
  })

test('half a character becomes the sign for what cannot be read, and its neighbours stay', () =>
  fc.assert(
    fc.asyncProperty(fc.array(fc.array(anyUnits, { maxLength: 20 }), { maxLength: 20 }), async parts => {
      const values = parts.map(units => String.fromCharCode(...units))
      const read = await db.one<{ read: string[] }>(
        sql`select ${texts(['first', ...values, 'last'])}::text[] as read`,
      )
      expect(read?.read).toEqual(['first', ...values.map(value => value.toWellFormed()), 'last'])
    }),
    { numRuns: 60 },
  ))
const anyUnits = fc.oneof(fc.integer({ min: 1, max: 0xffff }), fc.integer({ min: 0xd800, max: 0xdfff }))

for (const value of [2 ** 31, -(2 ** 31) - 1, Number.POSITIVE_INFINITY, Number.NaN, 0.5])
  test(`${value} is no integer: nothing else is written in its place`, () => {
    expect(() => integers([1, value])).toThrow()
  })

test('a date that is none: nothing else is written in its place', () => {
  expect(() => times([new Date(0), new Date(Number.NaN)])).toThrow()
})
