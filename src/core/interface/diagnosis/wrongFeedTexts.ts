import { decorated, distinct, joinPairs, maxSignedLength, otherOrders, type WrongText } from './spellings.ts'

const each = (mistake: string, wrong: string, ...texts: string[]): WrongText[] =>
  texts.map(text => ({ mistake, wrong, text }))

type FeedParts = { t: string; merchant_key: string; after: string; limit: string }

// The usual wrong texts of the event feed, whose right text is `<t>.<merchant_key>.<after>.<limit>`.
export function wrongFeedTexts(right: string, parts: FeedParts): WrongText[] | undefined {
  if (right.length > maxSignedLength) return undefined
  const { t, merchant_key, after, limit } = parts
  const values = [t, merchant_key, after, limit]
  const named = [
    ['after', after],
    ['limit', limit],
    ['merchant_key', merchant_key],
  ] as const
  return distinct(
    [right],
    [
      ...each(
        'missing_dots',
        'the dots of empty parts are missing: there are always three dots',
        values.filter(Boolean).join('.'),
        [t, merchant_key, after].join('.'),
        [t, merchant_key].join('.'),
      ),
      ...each('without_time', 't is not in the text that was hashed', [merchant_key, after, limit].join('.')),
      ...each(
        'filled_in',
        'after or limit was hashed, but not sent; hash exactly what you send',
        [t, merchant_key, after || '0', limit].join('.'),
        [t, merchant_key, after, limit || '100'].join('.'),
        [t, merchant_key, after || '0', limit || '100'].join('.'),
      ),
      ...each(
        'other_order',
        'the parts are in another order: t, merchant_key, after, limit',
        ...otherOrders(values).map(order => order.join('.')),
      ),
      ...each(
        'other_signs',
        'the parts are not joined by dots',
        ...['', '|', ':', '&', ',', '-'].map(sign => values.join(sign)),
      ),
      ...each(
        'names_hashed',
        'the names were hashed too; the text has the values alone, joined by dots',
        joinPairs(named),
        joinPairs(named.filter(([, value]) => value !== '')),
        joinPairs([...named, ['t', t]]),
        joinPairs([...named, ['time', t]]),
      ),
      ...decorated(right),
    ],
  )
}
