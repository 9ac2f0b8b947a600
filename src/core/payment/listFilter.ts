import { isPlainText } from '../text.ts'
import { startOfDate, startOfNextDay } from '../zone.ts'
import { firstReferenceAt } from './reference.ts'
import type { Status } from './payment.ts'

export const statuses: readonly Status[] = ['paid', 'awaiting_payment', 'failed', 'cancelled']

const maxChosen = 20 // values of one filter
const maxValueLength = 100
const maxSearchLength = 500

// Which payments of a merchant a list shows, as the address of the page names them.
export type ListFilter = {
  q: string
  statuses: readonly Status[]
  methods: readonly string[]
  outlets: readonly string[]
  from: string // days such as 2026-11-17, in the time zone of the installation; empty: no limit
  to: string
}

export const noFilter: ListFilter = { q: '', statuses: [], methods: [], outlets: [], from: '', to: '' }

const isDay = (text: string) =>
  /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(`${text}T00:00:00Z`)) && text >= '2000-01-01'

const isStatus = (text: string): text is Status => statuses.some(status => status === text)

// `valuesOf` returns all values of a name in the query. What is not valid is left out.
export function readListFilter(valuesOf: (name: string) => readonly string[]): ListFilter {
  const chosen = (name: string) =>
    [...new Set(valuesOf(name))]
      .filter(value => value !== '' && value.length <= maxValueLength && isPlainText(value))
      .slice(0, maxChosen)
  const day = (name: string) => chosen(name).find(isDay) ?? ''
  return {
    q: (valuesOf('q')[0] ?? '').trim().slice(0, maxSearchLength),
    statuses: chosen('status').filter(isStatus),
    methods: chosen('method'),
    outlets: chosen('outlet'),
    from: day('from'),
    to: day('to'),
  }
}

// The query of a page with this filter, without the question mark.
export function filterQuery(
  { q, statuses: some, methods, outlets, from, to }: ListFilter,
  more: Record<string, string> = {},
) {
  const query = new URLSearchParams()
  if (q) query.append('q', q)
  for (const status of some) query.append('status', status)
  for (const method of methods) query.append('method', method)
  for (const outlet of outlets) query.append('outlet', outlet)
  if (from) query.append('from', from)
  if (to) query.append('to', to)
  for (const [name, value] of Object.entries(more)) query.append(name, value)
  return query.toString()
}

export const isFiltered = (filter: ListFilter) => filterQuery(filter) !== ''

// References sort by time, so days are a range of references. The end is not included.
export function referencesOf({ from, to }: Pick<ListFilter, 'from' | 'to'>, zone: string) {
  return {
    first: from ? firstReferenceAt(startOfDate(from, zone)) : undefined,
    end: to ? firstReferenceAt(startOfNextDay(startOfDate(to, zone), zone)) : undefined,
  }
}

// `older`: payments before a reference, newest first. `newer`: payments behind it, oldest first.
export type PagePlace = { going: 'older' | 'newer'; from?: string }
