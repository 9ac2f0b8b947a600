import { paymentMethodName } from '../../../core/provider/paymentMethod.ts'
import { Icon } from '../../../core/markup/page.tsx'
import type { PropsWithChildren } from '../../../core/markup/jsx-runtime.ts'
import {
  filterQuery,
  isFiltered,
  type ListFilter,
  noFilter,
  statuses,
} from '../../../core/payment/listFilter.ts'
import { fill } from '../../../core/text.ts'
import { localTime } from '../../../core/zone.ts'
import type { MerchantVisit } from '../route.ts'
import { paymentsTexts } from './paymentsTexts.ts'

// What the filters offer.
export type FilterChoices = {
  methods: readonly string[]
  outlets: ReadonlyMap<string, string>
  timeZone: string
}

type BarProps = { visit: MerchantVisit; filter: ListFilter; choices: FilterChoices }

const dayMs = 86_400_000
const lengths = [7, 30] // days of the shortcuts

const linkTo = ({ base }: MerchantVisit, filter: ListFilter, more?: Record<string, string>) => {
  const query = filterQuery(filter, more)
  return `${base}/payments${query ? `?${query}` : ''}`
}

// The search and the filters. A filter that is set is a link that removes it; one that is not opens its choices.
export const FilterBar = ({ visit, filter, choices }: BarProps) => {
  const texts = paymentsTexts[visit.lang]
  const { outlets, methods } = choices
  const outletName = (code: string) => outlets.get(code) ?? code
  return (
    <form
      class="tools"
      method="get"
      action={`${visit.base}/payments`}
      role="search"
      aria-label={texts.filters}
    >
      <label class="input dense sought">
        <SearchIcon />
        <span class="sr">{texts.search}</span>
        <input
          name="q"
          type="search"
          value={filter.q}
          placeholder={texts.searchHint}
          title={texts.searchKinds}
          autocomplete="off"
          spellcheck={false}
          maxlength={500}
        />
      </label>
      <button type="submit" class="btn plain small">
        {texts.search}
      </button>
      {filter.statuses.length > 0 ? (
        <SetChip visit={visit} filter={{ ...filter, statuses: [] }}>
          {texts.status}: {filter.statuses.map(one => texts.statuses[one]).join(', ')}
          <Kept name="status" values={filter.statuses} />
        </SetChip>
      ) : (
        <Choices
          visit={visit}
          label={texts.status}
          name="status"
          options={statuses.map(one => [one, texts.statuses[one]])}
        />
      )}
      {filter.methods.length > 0 ? (
        <SetChip visit={visit} filter={{ ...filter, methods: [] }}>
          {texts.method}: {filter.methods.map(paymentMethodName).join(', ')}
          <Kept name="method" values={filter.methods} />
        </SetChip>
      ) : (
        <Choices
          visit={visit}
          label={texts.method}
          name="method"
          options={methods.map(one => [one, paymentMethodName(one)])}
        />
      )}
      {filter.outlets.length > 0 ? (
        <SetChip visit={visit} filter={{ ...filter, outlets: [] }}>
          {texts.outlet}: {filter.outlets.map(outletName).join(', ')}
          <Kept name="outlet" values={filter.outlets} />
        </SetChip>
      ) : (
        outlets.size > 0 && (
          <Choices visit={visit} label={texts.outlet} name="outlet" options={[...outlets]} />
        )
      )}
      <DateChip visit={visit} filter={filter} choices={choices} />
      {isFiltered(filter) && (
        <a class="btn quiet small" href={linkTo(visit, noFilter)}>
          {texts.clear}
        </a>
      )}
    </form>
  )
}

const Kept = ({ name, values }: { name: string; values: readonly string[] }) => (
  <>
    {values.map(value => (
      <input type="hidden" name={name} value={value} />
    ))}
  </>
)

const SetChip = ({
  visit,
  filter,
  children,
}: PropsWithChildren<{ visit: MerchantVisit; filter: ListFilter }>) => (
  <a class="chip on" href={linkTo(visit, filter)}>
    {children}
    <Icon name="cross" />
    <span class="sr">{paymentsTexts[visit.lang].remove}</span>
  </a>
)

type ChoicesProps = {
  visit: MerchantVisit
  label: string
  name: string
  options: readonly (readonly [value: string, label: string])[]
}

const Choices = ({ visit, label, name, options }: ChoicesProps) => {
  const texts = paymentsTexts[visit.lang]
  return (
    <details class="choose">
      <summary class="chip">
        {label}: {texts.any}
        <Icon name="down" />
      </summary>
      <fieldset class="choose-box">
        <legend class="sr">{label}</legend>
        {options.map(([value, text]) => (
          <label>
            <input type="checkbox" name={name} value={value} />
            {text}
          </label>
        ))}
        <button type="submit" class="btn small">
          {texts.apply}
        </button>
      </fieldset>
    </details>
  )
}

const DateChip = ({ visit, filter, choices: { timeZone } }: BarProps) => {
  const texts = paymentsTexts[visit.lang]
  const { from, to } = filter
  const dayOf = (daysAgo: number) => localTime(new Date(visit.now.getTime() - daysAgo * dayMs), timeZone).day
  const today = dayOf(0)
  if (from || to)
    return (
      <SetChip visit={visit} filter={{ ...filter, from: '', to: '' }}>
        {dateLabel(visit, filter, today)}
        <Kept name="from" values={from ? [from] : []} />
        <Kept name="to" values={to ? [to] : []} />
      </SetChip>
    )
  return (
    <details class="choose">
      <summary class="chip">
        {texts.date}: {texts.any}
        <Icon name="down" />
      </summary>
      <fieldset class="choose-box">
        <legend class="sr">{texts.date}</legend>
        <a href={linkTo(visit, { ...filter, from: today, to: today })}>{texts.today}</a>
        {lengths.map(days => (
          <a href={linkTo(visit, { ...filter, from: dayOf(days - 1), to: today })}>
            {fill(texts.lastDays, { days })}
          </a>
        ))}
        <label>
          <span>{texts.from}</span>
          <input class="input" type="date" name="from" max={today} />
        </label>
        <label>
          <span>{texts.to}</span>
          <input class="input" type="date" name="to" max={today} />
        </label>
        <button type="submit" class="btn small">
          {texts.apply}
        </button>
      </fieldset>
    </details>
  )
}

function dateLabel({ lang }: MerchantVisit, { from, to }: ListFilter, today: string): string {
  const texts = paymentsTexts[lang]
  const name = (day: string) => shortDay(day, lang, day.slice(0, 4) !== today.slice(0, 4))
  if (from && from === to) return from === today ? `${texts.today}, ${name(from)}` : name(from)
  if (from && to) return `${name(from)} – ${name(to)}`
  return from ? fill(texts.since, { day: name(from) }) : fill(texts.until, { day: name(to) })
}

// 2026-11-17 as 17 Nov.
export const shortDay = (day: string, lang: string, hasYear = false) =>
  new Intl.DateTimeFormat(lang === 'fr' ? 'fr' : 'en-GB', {
    day: 'numeric',
    month: 'short',
    ...(hasYear && { year: 'numeric' }),
    timeZone: 'UTC',
  }).format(new Date(`${day}T00:00:00Z`))

const SearchIcon = () => (
  <svg class="i s" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
    <path d="M9 3.500a5.500 5.500 0 1 1 0 11a5.500 5.500 0 1 1 0-11M13.500 13.500L17 17" />
  </svg>
)
