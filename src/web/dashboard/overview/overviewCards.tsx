import { endedOf, type Part, successRate } from '../../../core/overview/figures.ts'
import type { Child } from '../../../core/markup/jsx-runtime.ts'
import { decimalsOf, localizedFigure } from '../../../core/money.ts'
import { paymentMethodName } from '../../../core/provider/paymentMethod.ts'
import { moneyText } from '../../../core/timeline/history.ts'
import { fill } from '../../../core/text.ts'
import { BarChart, type ChartSlot, ShareBar } from './barChart.tsx'
import { rateText } from './keyFigures.tsx'
import type { OverviewProps } from './overviewProps.ts'
import { failureTexts, reasonCodes } from '../payments/failureTexts.ts'
import { type OverviewTexts, overviewTexts } from './overviewTexts.ts'

const shownMethods = 8
const shownOutlets = 8
const shownReasons = 6

const badges: Readonly<Record<string, readonly [tone: string, text: string]>> = {
  mtn_mobile_money: ['mtn', 'MTN'],
  telecel_cash: ['tel', 'T'],
  airteltigo_money: ['at', 'AT'],
  card: ['card-m', 'Card'],
  ghqr: ['', 'QR'],
}

export const MethodTag = ({ method, hasName }: { method: string; hasName?: boolean }) => {
  const [tone, letters] = badges[method] ?? ['', '']
  return (
    <span class="method" title={paymentMethodName(method)}>
      {letters && (
        <span class={`badge ${tone}`} aria-hidden="true">
          {letters}
        </span>
      )}
      <span class={letters && !hasName ? 'unseen' : undefined}>{paymentMethodName(method)}</span>
    </span>
  )
}

type TableProps = { texts: OverviewTexts; head: readonly string[]; rows: readonly (readonly Child[])[] }

// The table behind a chart. The first column names the row, the others are figures.
const AsTable = ({ texts, head, rows }: TableProps) => (
  <details class="as-table">
    <summary>{texts.asTable}</summary>
    <table>
      <thead>
        <tr>
          {head.map((title, at) => (
            <th class={at ? 'r' : undefined} scope="col">
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(cells => (
          <tr>
            {cells.map((cell, at) => (
              <td class={at ? 'r' : undefined}>{cell}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </details>
)

// What was paid in each slot, beside the period before.
export const SlotChart = ({ visit, dates, period, currency, overview }: OverviewProps) => {
  const { lang, now } = visit
  const texts = overviewTexts[lang]
  const { present, before, figures, figuresBefore } = overview
  const paid = figures.paidBySlot(currency)
  const paidBefore = figuresBefore.paidBySlot(currency)
  const label = (at: Date) => (period === 'day' ? dates.hour(at) : dates.date(at))
  const scale = 10 ** decimalsOf(currency)
  const shown = present.slots
    .map((start, at) => {
      const [value = 0n, earlier = 0n] = [paid[at], paidBefore[at]]
      return { start, at, value, earlier, isOpen: start <= now && (present.slots[at + 1] ?? now) >= now }
    })
    .filter(({ at }) => period !== 'day' || isShownHour(at, paid, paidBefore))
  const slots = shown.map(
    ({ start, value, earlier, isOpen }): ChartSlot => ({
      label: label(start),
      value: Number(value) / scale,
      before: Number(earlier) / scale,
      isOpen,
    }),
  )
  const weekday = { weekday: dates.weekday(before.from) }
  const most = shown.reduce((best, one) => (one.value > best.value ? one : best), { start: now, value: 0n })
  const name = `${texts.perSlot[period]}, ${currency}${
    most.value > 0n
      ? `, ${fill(texts.most, { slot: label(most.start), amount: moneyText(currency, most.value) })}`
      : ''
  }`
  const number = (value: number) =>
    new Intl.NumberFormat(lang, { maximumFractionDigits: value < 10 ? decimalsOf(currency) : 0 }).format(
      value,
    )
  const figure = (minor: bigint) => localizedFigure(minor, currency, lang)
  return (
    <section class="card charted" aria-labelledby="slots">
      <header>
        <h2 id="slots">
          {texts.perSlot[period]} <span class="muted small">{currency}</span>
        </h2>
        <p class="legend">
          <span class="key">{texts.now[period]}</span>
          <span class="key line">{fill(texts.before[period], weekday)}</span>
        </p>
      </header>
      <BarChart slots={slots} label={name} number={number} />
      <AsTable
        texts={texts}
        head={[
          period === 'day' ? texts.hour : texts.day,
          texts.now[period],
          fill(texts.before[period], weekday),
        ]}
        rows={shown.map(({ start, value, earlier }) => [
          period === 'day' ? `${dates.hour(start)}:00` : dates.date(start),
          start > now ? '' : figure(value),
          figure(earlier),
        ])}
      />
    </section>
  )
}

// From six in the morning until nine in the evening, and whenever something was paid.
function isShownHour(at: number, ...all: (readonly bigint[])[]): boolean {
  const isPaid = (hour: number) => all.some(paid => (paid[hour] ?? 0n) > 0n)
  const hours = Array.from({ length: 25 }, (_, hour) => hour).filter(isPaid)
  return at >= Math.min(6, hours[0] ?? 6) && at <= Math.max(21, hours.at(-1) ?? 21)
}

const partRow = (part: Part, name: Child, lang: string): Child[] => {
  const rate = successRate(part)
  return [
    name,
    String(part.paid),
    String(part.failed),
    String(part.left),
    rate === null ? '' : rateText(rate, lang),
    [...part.total].map(([currency, sum]) => moneyText(currency, sum)).join(', '),
  ]
}

const partHead = (texts: OverviewTexts, name: string, amount: string) => [
  name,
  texts.ends.paid,
  texts.ends.failed,
  texts.ends.left,
  texts.share,
  amount,
]

const PartList = ({ parts, name, visit, isOutlets }: PartListProps) => {
  const texts = overviewTexts[visit.lang]
  return (
    <>
      <ul class={isOutlets ? 'by of-outlets' : 'by'}>
        {parts.map(part => {
          const { paid, failed, left } = part
          const rate = successRate(part)
          return (
            <li>
              {name(part)}
              <ShareBar
                of={endedOf(part)}
                parts={[
                  { tone: 'b', amount: paid },
                  { tone: 'fail', amount: failed },
                  { tone: 'left', amount: left },
                ]}
              />
              <span class="muted">{fill(texts.of, { paid: String(paid), all: String(endedOf(part)) })}</span>
              <b>{rate === null ? '–' : rateText(rate, visit.lang)}</b>
            </li>
          )
        })}
      </ul>
      <p class="legend">
        <span class="key">{texts.ends.paid}</span>
        <span class="key fail">{texts.ends.failed}</span>
        <span class="key left">{texts.ends.left}</span>
      </p>
    </>
  )
}

type PartListProps = Pick<OverviewProps, 'visit'> & {
  parts: readonly Part[]
  name(part: Part): Child
  isOutlets?: boolean
}

export const MethodCard = ({ visit, overview: { figures } }: OverviewProps) => {
  const texts = overviewTexts[visit.lang]
  const parts = figures.byMethod.filter(part => endedOf(part) > 0)
  return (
    <section class="card charted" aria-labelledby="by-method">
      <header>
        <h2 id="by-method">{texts.byMethod}</h2>
      </header>
      <PartList
        visit={visit}
        parts={parts.slice(0, shownMethods)}
        name={({ name }) =>
          name ? <MethodTag method={name} /> : <span class="muted">{texts.noMethod}</span>
        }
      />
      <AsTable
        texts={texts}
        head={partHead(texts, texts.method, texts.columns.amount)}
        rows={parts.map(part =>
          partRow(part, part.name ? paymentMethodName(part.name) : texts.noMethod, visit.lang),
        )}
      />
    </section>
  )
}

// Only for merchants with outlets.
export const OutletCard = ({ visit, overview: { figures, outletNames } }: OverviewProps) => {
  const texts = overviewTexts[visit.lang]
  const parts = figures.byOutlet.filter(part => endedOf(part) > 0)
  if (!parts.some(({ name }) => name !== null)) return undefined
  const nameOf = ({ name }: Part) => (name ? (outletNames.get(name) ?? name) : texts.noOutlet)
  return (
    <section class="card charted" aria-labelledby="by-outlet">
      <header>
        <h2 id="by-outlet">{texts.byOutlet}</h2>
      </header>
      <PartList
        visit={visit}
        parts={parts.slice(0, shownOutlets)}
        isOutlets
        name={part => (
          <span class="name" title={nameOf(part)}>
            {nameOf(part)}
          </span>
        )}
      />
      <AsTable
        texts={texts}
        head={partHead(texts, texts.outlet, texts.columns.amount)}
        rows={parts.map(part => partRow(part, nameOf(part), visit.lang))}
      />
    </section>
  )
}

export const FailureReasons = ({ visit, overview: { failures, sample } }: OverviewProps) => {
  const texts = overviewTexts[visit.lang]
  const counts = new Map<string, number>()
  for (const { status_reason, payments } of failures) {
    const code = reasonCodes.get(status_reason)
    const words = code ? failureTexts[visit.lang][code] : texts.otherReason
    counts.set(words, (counts.get(words) ?? 0) + payments)
  }
  const sorted = [...counts].sort(([, a], [, b]) => b - a)
  const all = sorted.reduce((sum, [, count]) => sum + count, 0)
  const title = fill(sample.isPart ? texts.whyNewest : texts.why, {
    count: String(all),
    all: String(sample.payments),
  })
  return (
    <section class="card charted" aria-labelledby="why">
      <header>
        <h2 id="why">{title}</h2>
      </header>
      {all === 0 ? (
        <p class="muted small">{texts.allPaid}</p>
      ) : (
        <>
          <ul class="why-list">
            {sorted.slice(0, shownReasons).map(([words, count]) => (
              <li>
                <p>
                  <span>{words}</span>
                  <b>{count}</b>
                </p>
                <ShareBar of={all} parts={[{ tone: 'left', amount: count }]} />
              </li>
            ))}
          </ul>
          <AsTable
            texts={texts}
            head={[texts.reason, texts.payments]}
            rows={sorted.map(([words, count]) => [words, String(count)])}
          />
        </>
      )}
    </section>
  )
}
