import { type Currency, parseMoney } from '../money.ts'
import { readSearchTerms, type SearchTerms } from './searchTerms.ts'

// What a merchant's search text can mean. One text may be several, such as an amount and the beginning of an invoice id.
export type ListSearch = SearchTerms & {
  referencePrefix?: string
  totals: readonly bigint[] // in each of the merchant's currencies
  namePrefix?: string // in lower case
}

const amount = /^(?:[a-z]{3}\s*)?(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,9}(?:\.\d+)?)$/i
const leastPrefix = 3 // characters of a reference or a name that a search needs

// Undefined if nothing can have this text.
export function readListSearch(typed: string, currencies: readonly Currency[]): ListSearch | undefined {
  const terms = readSearchTerms(typed)
  if (!terms) return undefined
  const { text } = terms
  const figure = amount.exec(text)?.[1]?.replaceAll(',', '')
  const code = /^[a-z]{3}/i.exec(text)?.[0].toUpperCase()
  const totals = currencies
    .filter(currency => figure !== undefined && (code === undefined || code === currency))
    .map(currency => parseMoney(figure ?? '', currency))
    .filter(minor => typeof minor === 'bigint')
  return { ...terms, totals: [...new Set(totals)], ...prefixesIn(terms) }
}

function prefixesIn({ text, reference, email, token }: SearchTerms) {
  const upper = text.toUpperCase()
  const isReference = /^TG-[0-9A-Z-]+$/.test(upper) && upper.length >= 'TG-'.length + leastPrefix
  const isName =
    !email && !token && !/\d|\//.test(text) && (text.match(/\p{L}/gu) ?? []).length >= leastPrefix
  return {
    referencePrefix: isReference && !reference ? upper : undefined,
    namePrefix: isName ? text.toLowerCase() : undefined,
  }
}
