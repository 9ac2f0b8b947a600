import type { PropsWithChildren } from '../../../core/markup/jsx-runtime.ts'
import { isCurrency, localizedMoney } from '../../../core/money.ts'
import { fill } from '../../../core/text.ts'
import { moneyText } from '../../../core/timeline/history.ts'
import type { AreaDeps } from '../areaDeps.ts'
import { MerchantPage } from '../frame/frame.tsx'
import { type ZonedDates, zonedDates } from '../frame/zonedDates.ts'
import type { MerchantVisit } from '../route.ts'
import { type DayRange, namedRanges } from './moneyPeriod.ts'
import { type MoneyTexts, moneyTexts } from './moneyTexts.ts'

type Part = keyof MoneyTexts['parts']

const paths: Record<Part, string> = {
  balance: '/money',
  statement: '/money/statement',
  closing: '/money/closing',
  refunds: '/money/refunds',
  disputes: '/money/disputes',
}

// What the pages of money show with: the visit, and the dates of the installation's time zone.
export type MoneyView = { visit: MerchantVisit; dates: ZonedDates; zone: string }

export const moneyView = ({ runtime }: AreaDeps, visit: MerchantVisit): MoneyView => ({
  visit,
  dates: zonedDates(visit.lang, runtime.timeZone),
  zone: runtime.timeZone,
})

export const moneyScope = ({ merchant, mode }: MerchantVisit) => ({ merchant_id: merchant.merchant_id, mode })

type MoneyPageProps = PropsWithChildren<{ view: MoneyView; part: Part; title: string }>

// A page of money, with the links to the others.
export const MoneyPage = ({ view: { visit }, part, title, children }: MoneyPageProps) => {
  const texts = moneyTexts[visit.lang]
  return (
    <MerchantPage visit={visit} title={title} place="money">
      <div class="title">
        <h1>{title}</h1>
      </div>
      <nav class="switch money-parts" aria-label={texts.nav}>
        {(Object.keys(paths) as Part[]).map(one => (
          <a href={`${visit.base}${paths[one]}`} aria-current={one === part ? 'page' : undefined}>
            {texts.parts[one]}
          </a>
        ))}
      </nav>
      {children}
    </MerchantPage>
  )
}

// With a minus sign, and with the separators of the language.
export function signedMoney(minor: bigint, currency: string, lang: string): string {
  const size = minor < 0n ? -minor : minor
  const text = isCurrency(currency) ? localizedMoney(size, currency, lang) : moneyText(currency, size)
  return minor < 0n ? `−${text}` : text
}

type PeriodProps = { view: MoneyView; path: string; range: DayRange & { isWrong: boolean }; maxDays: number }

// Links to the usual periods, and a form for two days.
export const PeriodForm = ({ view: { visit, dates, zone }, path, range, maxDays }: PeriodProps) => {
  const { period } = moneyTexts[visit.lang]
  const address = `${visit.base}${path}`
  return (
    <form method="get" action={address} class="row period">
      <nav class="switch" aria-label={period.title}>
        {namedRanges(visit.now, zone, dates).map(({ name, first, last }) => (
          <a
            href={`${address}?from=${first}&to=${last}`}
            aria-current={first === range.first && last === range.last ? 'true' : undefined}
          >
            {period[name]}
          </a>
        ))}
      </nav>
      <label class="day-field">
        {period.from} <input class="input" type="date" name="from" value={range.first} required />
      </label>
      <label class="day-field">
        {period.to} <input class="input" type="date" name="to" value={range.last} required />
      </label>
      <button type="submit" class="btn plain small">
        {period.show}
      </button>
      {range.isWrong && (
        <p class="fault" role="alert">
          {fill(period.fault, { days: String(maxDays) })}
        </p>
      )}
    </form>
  )
}

export const BookedNote = ({ view: { visit, zone } }: { view: MoneyView }) => (
  <p class="muted tiny">{fill(moneyTexts[visit.lang].booked, { zone })}</p>
)

type PagerProps = { first?: { href: string; text: string }; next?: { href: string; text: string } }

// Links to the first and to the next page of a list.
export const ListPager = ({ first, next }: PagerProps) =>
  (first ?? next) && (
    <p class="pager">
      <span>{first && <a href={first.href}>{first.text}</a>}</span>
      {next && (
        <a class="btn plain small" href={next.href} rel="next">
          {next.text}
        </a>
      )}
    </p>
  )
