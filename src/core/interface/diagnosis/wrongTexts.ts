import type { Fields } from '../json.ts'
import { allFields } from './allFields.ts'
import {
  decorated,
  distinct,
  formEncoded,
  joinPairs,
  jsonOfPairs,
  maxSignedLength,
  namesOf,
  otherNames,
  otherOrders,
  otherTotals,
  type Pair,
  textOf,
  type WrongText,
} from './spellings.ts'

// The usual wrong texts of a request about a payment or a refund. `right` are the accepted texts and `names` their fields.
// The result depends on nothing but the request. Undefined if the values are too long to be tried.
export function wrongTexts(
  right: readonly string[],
  names: readonly string[],
  sent: Fields,
): WrongText[] | undefined {
  const pairs = names.map((name): Pair => [name, textOf(sent[name])])
  const [first = ''] = right
  if (first.length > maxSignedLength || pairs.some(([, value]) => value.length > maxSignedLength))
    return undefined
  return distinct(right, [
    ...inOtherOrder(pairs),
    ...withOtherTotals(pairs),
    ...decorated(first),
    ...joinedOtherwise(pairs),
    ...encoded(pairs),
    ...valuesOnly(pairs),
    ...asJson(pairs),
    ...otherFields(pairs, sent),
    ...allFields(sent),
  ])
}

// The same for a request that signs all its fields. `fields` has them in the order in which they were sent.
export function wrongSignedTexts(
  right: string,
  fields: Readonly<Record<string, string | undefined>>,
): WrongText[] | undefined {
  if (right.length > maxSignedLength) return undefined
  const { secure_hash: _hash, ...signed } = fields
  const asSent = Object.entries(signed).map(([name, value = '']): Pair => [name, value])
  const pairs = inOrder(asSent)
  return distinct(
    [right],
    [
      ...fewerFields(pairs),
      { mistake: 'other_order', wrong: alphabetical(pairs), text: joinPairs(asSent) },
      ...inOtherOrder(pairs),
      ...withOtherTotals(pairs),
      ...decorated(right),
      ...joinedOtherwise(pairs),
      ...encoded(pairs),
      ...valuesOnly(pairs),
      ...asJson(pairs),
    ],
  )
}

const hashedAs = (total: string, { name, sent }: SentTotal) =>
  `${name} was hashed as ${total} but sent as ${sent}; hash exactly what you send`

// A refund calls its total amount.
const totalNames: ReadonlySet<string> = new Set(['total', 'amount'])

type SentTotal = { name: string; sent: string }

function totalOf(pairs: readonly Pair[]): SentTotal {
  const [name, sent] = pairs.find(([other]) => totalNames.has(other)) ?? ['total', '']
  return { name, sent }
}

const alphabetical = (pairs: readonly Pair[]) =>
  `the names are not in alphabetical order: ${namesOf(inOrder(pairs))}`

const withTotal = (pairs: readonly Pair[], total: string) =>
  pairs.map(([name, value]): Pair => [name, totalNames.has(name) ? total : value])

// The right total, and the two usual spellings of it.
const inOtherOrder = (pairs: readonly Pair[]): WrongText[] =>
  otherOrders(pairs).flatMap(order => {
    const total = totalOf(pairs)
    const wrong = alphabetical(pairs)
    return [
      { mistake: 'other_order', wrong, text: joinPairs(order) },
      ...otherTotals(total.sent)
        .slice(0, 2)
        .map(spelling => ({
          mistake: 'other_order',
          wrong: `${wrong}; and ${hashedAs(spelling, total)}`,
          text: joinPairs(withTotal(order, spelling)),
        })),
    ]
  })

function withOtherTotals(pairs: readonly Pair[]): WrongText[] {
  const total = totalOf(pairs)
  const { sent } = total
  const currency = ['GHS ', 'GHS'].map(prefix => prefix + sent)
  return (sent === '' ? [] : [...otherTotals(sent), ...currency]).map(spelling => ({
    mistake: 'other_total',
    wrong: hashedAs(spelling, total),
    text: joinPairs(withTotal(pairs, spelling)),
  }))
}

function joinedOtherwise(pairs: readonly Pair[]): WrongText[] {
  const spaced: [string, string][] = [
    [' = ', ' & '],
    ['=', ' & '],
    [' = ', '&'],
    ['= ', '&'],
    ['=', '& '],
  ]
  const signs: [string, string][] = [
    ['=', ','],
    ['=', ', '],
    ['=', ';'],
    ['=', '|'],
    ['=', ' '],
    ['=', '\n'],
    ['=', ''],
    [':', '&'],
    [':', ','],
    ['', ''],
  ]
  const quoted = (quote: string) => pairs.map(([name, value]): Pair => [name, quote + value + quote])
  return [
    ...spaced.map(([equals, and]) => ({
      mistake: 'spaces',
      wrong: 'there are spaces around = or &; the text has none',
      text: joinPairs(pairs, equals, and),
    })),
    ...signs.map(([equals, and]) => ({
      mistake: 'other_signs',
      wrong: 'the names and values are not joined by = and &',
      text: joinPairs(pairs, equals, and),
    })),
    ...['"', "'"].map(quote => ({
      mistake: 'quotes',
      wrong: 'the values are in quotes; hash them without',
      text: joinPairs(quoted(quote)),
    })),
    ...otherNames(pairs).map(([style, renamed]) => ({
      mistake: 'other_names',
      wrong: `the names are written otherwise (${style}); they are ${namesOf(pairs)}`,
      text: joinPairs(renamed),
    })),
    {
      mistake: 'names_only',
      wrong: 'only the names were hashed',
      text: pairs.map(([name]) => name).join('&'),
    },
  ]
}

const encoded = (pairs: readonly Pair[]): WrongText[] =>
  [(value: string) => encodeURIComponent(value.toWellFormed()), formEncoded].map(encode => ({
    mistake: 'url_encoded',
    wrong: 'the values are URL-encoded; hash them as they are',
    text: joinPairs(pairs.map(([name, value]) => [name, encode(value)])),
  }))

const joined = (order: readonly Pair[], sign: string): WrongText => {
  const between = sign ? ` (with ${sign === ' ' ? 'spaces' : sign} between them)` : ''
  return {
    mistake: 'values_only',
    wrong: `only the values were hashed${between}; each needs its name before it, as in the string above`,
    text: order.map(([, value]) => value).join(sign),
  }
}

// Also the texts that developers hash together with the secret instead of with a key.
function valuesOnly(pairs: readonly Pair[]): WrongText[] {
  const orders = [[...pairs], ...otherOrders(pairs)]
  const few = orders.filter((_, at) => at === 0 || at === 2) // alphabetical, and merchant_key first
  return [
    ...orders.flatMap(order => ['', '|'].map(sign => joined(order, sign))),
    ...few.flatMap(order => ['&', ',', ':', '.', '-', ' ', ';', '_'].map(sign => joined(order, sign))),
  ]
}

const asJson = (pairs: readonly Pair[]): WrongText[] =>
  [pairs, ...otherOrders(pairs).slice(1, 2)].flatMap(order =>
    jsonOfPairs(order).map(text => ({
      mistake: 'json',
      wrong: 'JSON was hashed instead of the names and values joined by = and &',
      text,
    })),
  )

const inOrder = (pairs: readonly Pair[]) => pairs.toSorted(([a], [b]) => (a < b ? -1 : 1))

const sorted = (pairs: readonly Pair[]) => joinPairs(inOrder(pairs))

const fewerFields = (pairs: readonly Pair[]): WrongText[] =>
  pairs.map(([name]) => ({
    mistake: 'fewer_fields',
    wrong: `${name} is missing in the text that was hashed`,
    text: joinPairs(pairs.filter(([other]) => other !== name)),
  }))

// One field too many or too few.
function otherFields(pairs: readonly Pair[], sent: Fields): WrongText[] {
  const names = namesOf(pairs)
  const currency = textOf(sent.currency) || 'GHS'
  const more = (pair: Pair) =>
    [sorted([...pairs, pair]), joinPairs([...pairs, pair])].map(text => ({
      mistake: 'more_fields',
      wrong: `${pair[0]} was hashed too; the string has ${names} alone`,
      text,
    }))
  const { name: total } = totalOf(pairs)
  const otherTotal = total === 'total' ? 'amount' : 'total'
  const renamed = pairs.map(([name, value]): Pair => [name === total ? otherTotal : name, value])
  const unsigned = ['total', 'email', 'ipn_url', 'reason'].filter(
    name => textOf(sent[name]) !== '' && !pairs.some(([known]) => known === name),
  )
  return [
    ...fewerFields(pairs),
    ...more(['currency', currency]),
    ...more(['secure_hash', '']),
    ...unsigned.flatMap(name => more([name, textOf(sent[name])])),
    ...[joinPairs(renamed), sorted(renamed)].map(text => ({
      mistake: 'other_names',
      wrong: `${total} is called ${otherTotal} in the text that was hashed; the names are ${names}`,
      text,
    })),
  ]
}
