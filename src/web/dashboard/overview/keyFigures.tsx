import { endedOf, successRate } from '../../../core/overview/figures.ts'
import type { Child } from '../../../core/markup/jsx-runtime.ts'
import { type Currency, localizedMoney } from '../../../core/money.ts'
import { fill } from '../../../core/text.ts'
import { disputeSum } from './needsAttention.tsx'
import type { OverviewProps } from './overviewProps.ts'
import { overviewTexts } from './overviewTexts.ts'

// The four figures, each with its comparison in words.
export const KeyFigures = (props: OverviewProps) => {
  const texts = overviewTexts[props.visit.lang]
  return (
    <section class="four" aria-label={texts.figures}>
      <PaidFigure {...props} />
      <RateFigure {...props} />
      <TimeFigure {...props} />
      <DisputeFigure {...props} />
    </section>
  )
}

type FigureProps = { label: string; value: Child; children?: Child }

const Figure = ({ label, value, children }: FigureProps) => (
  <div class="card figure">
    <p class="label">{label}</p>
    <p class="value">{value}</p>
    <p class="against">{children}</p>
  </div>
)

const Arrow = ({ isUp }: { isUp: boolean }) => (
  <svg class="i s" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
    <path d={isUp ? 'M10 16V4M5 9l5-5 5 5' : 'M10 4v12M5 11l5 5 5-5'} />
  </svg>
)

type ChangeProps = { isUp: boolean; isGood: boolean; children?: Child }

const Change = ({ isUp, isGood, children }: ChangeProps) => (
  <b class={isGood ? 'ok-ink' : 'bad-ink'}>
    <Arrow isUp={isUp} />
    {children}
  </b>
)

const PaidFigure = ({ visit, dates, period, currency, overview }: OverviewProps) => {
  const texts = overviewTexts[visit.lang]
  const { figures, comparedWith, before } = overview
  const paid = figures.paid.get(currency) ?? 0n
  const paidBefore = comparedWith.paid.get(currency) ?? 0n
  const weekday = dates.weekday(before.from)
  const change = paidBefore === 0n ? 0 : Number(((paid - paidBefore) * 1000n) / paidBefore) / 10
  const others = [...figures.paid].filter(([other]) => other !== currency)
  return (
    <Figure
      label={texts.paid[period]}
      value={
        <>
          {moneyIn(paid, currency, visit.lang)}
          {others.map(([other, sum]) => (
            <span class="also">{moneyIn(sum, other, visit.lang)}</span>
          ))}
        </>
      }
    >
      {paidBefore === 0n ? (
        <span>{fill(texts.nothingBefore[period], { weekday })}</span>
      ) : (
        <>
          {change === 0 ? (
            <b>{texts.same},</b>
          ) : (
            <Change isUp={change > 0} isGood={change > 0}>
              {percent(Math.abs(change), visit.lang)}
            </Change>
          )}{' '}
          <span>{fill(texts.on[period], { weekday })}</span>
        </>
      )}
    </Figure>
  )
}

const moneyIn = (minor: bigint, currency: Currency, lang: string) => localizedMoney(minor, currency, lang)

const percent = (value: number, lang: string) =>
  `${new Intl.NumberFormat(lang, { maximumFractionDigits: Math.abs(value) < 10 ? 1 : 0 }).format(value)} %`

const rateFormats = new Map<string, Intl.NumberFormat>() // by language: creating one is slow

export function rateText(rate: number, lang: string) {
  const format =
    rateFormats.get(lang) ??
    new Intl.NumberFormat(lang, { minimumFractionDigits: 1, maximumFractionDigits: 1 })
  rateFormats.set(lang, format)
  return `${format.format(rate * 100)} %`
}

const RateFigure = ({ visit, overview: { figures, comparedWith } }: OverviewProps) => {
  const texts = overviewTexts[visit.lang]
  const rate = successRate(figures.ends)
  const rateBefore = successRate(comparedWith.ends)
  if (rate === null) return <Figure label={texts.rate} value="–" children={texts.noRate} />
  const points = rateBefore === null ? 0 : Math.round((rate - rateBefore) * 1000) / 10
  const text = new Intl.NumberFormat(visit.lang).format(Math.abs(points))
  return (
    <Figure label={texts.rate} value={rateText(rate, visit.lang)}>
      {rateBefore !== null &&
        (points === 0 ? (
          <b>{texts.samePoints}</b>
        ) : (
          <Change isUp={points > 0} isGood={points > 0}>
            {fill(texts.points, { points: text })}
          </Change>
        ))}{' '}
      <span>{fill(texts.of, { paid: String(figures.ends.paid), all: String(endedOf(figures.ends)) })}</span>
    </Figure>
  )
}

const TimeFigure = ({ visit, dates, period, overview: { sample, sampleBefore, before } }: OverviewProps) => {
  const texts = overviewTexts[visit.lang]
  const { seconds, paid, isPart } = sample
  if (seconds === null) return <Figure label={texts.time} value="–" children={texts.noRate} />
  const difference =
    sampleBefore.seconds === null ? undefined : Math.round(seconds) - Math.round(sampleBefore.seconds)
  const than = fill(texts.thanBefore[period], { weekday: dates.weekday(before.from) })
  const isFaster = (difference ?? 0) < 0
  const words = { time: durationText(Math.abs(difference ?? 0)) }
  return (
    <Figure label={texts.time} value={durationText(Math.round(seconds))}>
      {difference === 0 && <b>{texts.sameTime}</b>}
      {difference !== undefined && difference !== 0 && (
        <>
          <Change isUp={!isFaster} isGood={isFaster}>
            {fill(isFaster ? texts.faster : texts.slower, words)}
          </Change>{' '}
          <span>{than}</span>
        </>
      )}
      {isPart && <span> ({fill(texts.newest, { count: String(paid) })})</span>}
    </Figure>
  )
}

// 34 s, 2 min 5 s, 3 h 20 min
function durationText(seconds: number): string {
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return seconds % 60 ? `${minutes} min ${seconds % 60} s` : `${minutes} min`
  return minutes % 60 ? `${Math.floor(minutes / 60)} h ${minutes % 60} min` : `${minutes / 60} h`
}

const DisputeFigure = ({ visit, dates, attention }: OverviewProps) => {
  const texts = overviewTexts[visit.lang]
  const [first] = attention.disputes
  if (!first) return <Figure label={texts.openDisputes} value="0" children={texts.noDisputes} />
  return (
    <Figure label={texts.openDisputes} value={String(attention.disputes.length)}>
      <b class="warn-ink">
        {disputeSum(attention)}
        {first.due_at && ','}
      </b>{' '}
      {first.due_at && <span>{fill(texts.answerBy, { date: dates.date(first.due_at) })}</span>}
    </Figure>
  )
}
