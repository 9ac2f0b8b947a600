import { expect, test } from 'vitest'
import { reference, referencePeriods } from '../../../src/core/payment/reference.ts'
import { readSearchTerms } from '../../../src/core/payment/searchTerms.ts'

const token = '4k2m8w1x9c00v2n57h3q8r2d6m9w4z1x5c7b0k2j8f'

for (const [typed, terms] of [
  ['AMA-1', { text: 'AMA-1', phones: [], providerRef: 'AMA-1' }],
  [' tg-1kjpy4 4e027z q8w4td ', { reference: 'TG-1KJPY4-4E027Z-Q8W4TD' }],
  ['0244123456', { phones: ['+233244123456'], text: '0244123456' }],
  ['024 412 3456', { phones: ['+233244123456'] }],
  ['+233 (0)24 412-3456', { phones: ['+233244123456'] }],
  ['00233244123456', { phones: ['+233244123456'] }],
  ['233244123456', { phones: ['+233244123456'] }],
  ['256712345678', { phones: ['+256712345678'] }], // Uganda, without its plus
  ['1234567', { phones: [] }],
  ['Ama@Shop.example', { email: 'Ama@Shop.example', phones: [] }],
  [`https://pay.example/checkout/${token}`, { token }],
  [`https://pay.example/checkout/${token}/receipt?lang=fr`, { token }],
  [`http://127.0.0.1:8080/checkout/${token}?x=1#top`, { token }],
  [token, { token }],
  [`${token}x`, { token: undefined }],
  ['4k2m8w1x9cabcdefghjkmnpqrstvwxyz0123', { attempt_id: '4k2m8w1x9cabcdefghjkmnpqrstvwxyz0123' }],
] as const)
  test(`the text ${typed}`, () => expect(readSearchTerms(typed)).toMatchObject(terms))

for (const typed of ['', '  ', '\u202e', 'a\0', 'x'.repeat(501), '\ud800'])
  test(`${JSON.stringify(typed.slice(0, 20))} can be nothing`, () =>
    expect(readSearchTerms(typed)).toBeUndefined())

test('the periods cover every reference from the oldest to a time, newest first', () => {
  const day = 86_400_000
  const to = Date.parse('2026-11-18T12:00:00Z')
  for (const days of [0, 1, 12, 13, 30, 365, 5000]) {
    const oldest = reference(to - days * day, 0)
    const periods = referencePeriods(oldest, new Date(to))
    expect(periods).toEqual(periods.toSorted().toReversed())
    expect(new Set(periods).size).toBe(periods.length)
    expect(periods.length).toBeLessThan(days / 12 + 3)
    const ofEachDay = Array.from({ length: days + 1 }, (_, at) => reference(to - at * day, 7).slice(0, 6))
    expect([...new Set(ofEachDay)]).toEqual(periods)
  }
  expect(referencePeriods(reference(to + 30 * day, 0), new Date(to))).toEqual([])
})
