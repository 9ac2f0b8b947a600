import fc from 'fast-check'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readTimestamp } from '../../src/store/timestamps.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'

// Not replaced here: whoever opens a Db does that.
const driverReads = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ) as (text: string) => Date | number

let database: FreshDatabase
let client: pg.Client
beforeAll(async () => {
  database = await freshDatabase()
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
})
afterAll(async () => {
  await client.end()
  await database.drop()
})

type Written = { text: string; ms: string }

// Each with 0 to 6 digits of its second, and the whole milliseconds since 1970: microseconds are cut off.
async function written(days: number[], microseconds: number[]): Promise<Written[]> {
  const { rows } = await client.query<Written>(
    `select t::text as text, floor(extract(epoch from t) * 1000)::text as ms
     from unnest($1::integer[], $2::bigint[]) as m (day, us),
       lateral (select timestamptz '2000-01-01 00:00:00+00' + make_interval(days => day) + us * interval '1 us') a (at),
       unnest(array[at::timestamptz(0), at::timestamptz(1), at::timestamptz(2), at::timestamptz(3),
         at::timestamptz(4), at::timestamptz(5), at]) as t`,
    [days, microseconds],
  )
  return rows
}

const dayOf = (text: string) => Math.floor((Date.parse(text) - Date.UTC(2000, 0, 1)) / 86_400_000)
const dayFrom = (from: string, until: string) => fc.integer({ min: dayOf(from), max: dayOf(until) })
const day = fc.oneof(
  dayFrom('1960-01-01', '2040-01-01'),
  dayFrom('0001-01-01', '0101-01-01'),
  dayFrom('0101-01-01', '9999-12-31'),
  dayFrom('9999-01-01', '+012000-01-01'),
  dayFrom('-004700-01-01', '0001-02-01'),
)
const microsecond = fc.oneof(
  fc.integer({ min: 0, max: 86_400_000_000 - 1 }),
  fc.integer({ min: 0, max: 86_400_000 - 1 }).map(ms => ms * 1000),
  fc.integer({ min: 0, max: 86_400 - 1 }).map(second => second * 1_000_000 + 999_999),
)
const moments = fc.array(fc.tuple(day, microsecond), { minLength: 1, maxLength: 100 })

describe('every moment that PostgreSQL writes is read as the driver reads it', () => {
  for (const zone of ['UTC', 'Asia/Kathmandu', 'America/St_Johns', 'Africa/Accra', 'Europe/London'])
    test(zone, async () => {
      await client.query(`set time zone '${zone}'`)
      await fc.assert(
        fc.asyncProperty(moments, async all => {
          const rows = await written(
            all.map(([one]) => one),
            all.map(([, us]) => us),
          )
          expect(rows).toHaveLength(all.length * 7)
          for (const { text, ms } of rows) {
            expect([text, readTimestamp(text)]).toEqual([text, driverReads(text)])
            if (!text.endsWith('BC'))
              expect([text, readTimestamp(text).getTime()]).toEqual([text, Number(ms)])
          }
        }),
        { numRuns: 30 },
      )
    })
})

test('every fraction of a second, in all its lengths', () => {
  const wrong: string[] = []
  for (let digits = 1; digits <= 6; digits++)
    for (let value = 0; value < 10 ** digits; value += digits < 5 ? 1 : 7) {
      const text = `2026-03-02 12:00:00.${String(value).padStart(digits, '0')}+00`
      if (readTimestamp(text).getTime() !== (driverReads(text) as Date).getTime()) wrong.push(text)
    }
  expect(wrong).toEqual([])
})

for (const text of [
  '0001-01-01 00:00:00+00',
  '0044-03-15 12:00:00.5+00',
  '0099-12-31 23:59:59.999999+00',
  '0100-01-01 00:00:00+00',
  '0001-12-31 23:59:59+00 BC',
  '0044-03-15 12:00:00.123456+00 BC',
  '4713-01-01 00:00:00+00 BC',
  '1972-06-30 23:59:59.999999+00',
  '2000-02-29 24:00:00+00',
  '9999-12-31 23:59:59.999999+00',
  '10000-01-01 00:00:00+00',
  '294276-12-31 23:59:59.999999+00',
  '1890-01-01 00:00:00+05:41:16',
  '2026-03-02 12:00:00-00:30',
  '2026-03-02 12:00:00+00:30',
  '2026-03-02 12:00:00+05:00',
  'infinity',
  '-infinity',
])
  test(text, () => expect(readTimestamp(text)).toEqual(driverReads(text)))
