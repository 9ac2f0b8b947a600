import type { LiveAccount } from '../../../actions/installation/liveView.ts'
import type { Lang } from '../../../core/languages/languages.ts'
import { Icon } from '../../../core/markup/page.tsx'
import { type PaymentMethod, paymentMethodName } from '../../../core/provider/paymentMethod.ts'
import { cleanText } from '../../../core/text.ts'
import { storedText } from '../../../core/timeline/storedSentences.ts'
import { Badge } from '../../checkout/stages/methodForm.tsx'
import type { AreaDeps } from '../areaDeps.ts'
import { zonedDayMinute } from '../frame/zonedTime.ts'
import { operatorBase } from '../route.ts'
import { figure, percentText } from './figures.ts'
import { liveTexts } from './liveTexts.ts'

export type MethodBadges = ReadonlyMap<string, PaymentMethod['badge']>

export const badgesOf = ({ providers }: Pick<AreaDeps, 'providers'>): MethodBadges =>
  new Map(
    providers
      .accounts()
      .flatMap(({ methods }) => methods.map(method => [method.payment_method, method.badge] as const)),
  )

type TableProps = { lang: Lang; accounts: readonly LiveAccount[]; zone: string; badges: MethodBadges }

const maxError = 90
const lowRate = 0.8

// Each account with its rate of success, its time to pay and its health.
export const AccountsTable = ({ lang, accounts, zone, badges }: TableProps) => {
  const texts = liveTexts[lang]
  if (accounts.length === 0)
    return (
      <p class="empty">
        <span>{texts.noAccounts}</span>
      </p>
    )
  return (
    <table class="fold">
      <thead>
        <tr>
          <th>{texts.account}</th>
          <th>{texts.methods}</th>
          <th class="r">{texts.aSecond}</th>
          <th class="r">{texts.success}</th>
          <th class="r">{texts.toPay}</th>
          <th>{texts.health}</th>
          <th>{texts.lastError}</th>
        </tr>
      </thead>
      <tbody>
        {accounts.map(one => (
          <tr>
            <td>
              <a href={`${operatorBase}/accounts/${encodeURIComponent(one.account)}`}>
                <b>{one.account}</b>
              </a>
            </td>
            <td>
              <MethodRow methods={one.methods} badges={badges} />
            </td>
            <td class="r" data-head={texts.aSecond}>
              {figure(one.perSecond, lang)}
            </td>
            <td class="r">
              <RateBar rate={one.rate} lang={lang} />
            </td>
            <td class="r" data-head={one.secondsToPay === undefined ? undefined : texts.toPay}>
              {one.secondsToPay !== undefined && `${Math.round(one.secondsToPay)} s`}
            </td>
            <td>
              <HealthPill health={one.isDisabled ? 'disabled' : one.health} lang={lang} />
            </td>
            <td class="alone" data-head={texts.lastError}>
              {one.lastError === null ? (
                <span class="muted">{texts.none}</span>
              ) : (
                <>
                  {one.lastErrorAt && (
                    <span class="muted num">{zonedDayMinute(one.lastErrorAt, zone, lang)}</span>
                  )}{' '}
                  {cleanText(storedText(one.lastError, lang), maxError)}
                </>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

export const MethodRow = ({ methods, badges }: { methods: readonly string[]; badges: MethodBadges }) => (
  <span class="badges">
    {methods.map(method => {
      const badge = badges.get(method)
      return (
        <span title={paymentMethodName(method)}>
          {badge && <Badge badge={badge} />}
          <span class={badge ? 'unseen' : undefined}>{paymentMethodName(method)} </span>
        </span>
      )
    })}
  </span>
)

export const RateBar = ({ rate, lang }: { rate: number | undefined; lang: Lang }) =>
  rate === undefined ? (
    <span class="muted">{liveTexts[lang].noRate}</span>
  ) : (
    <span class={rate < lowRate ? 'rate low' : 'rate'}>
      <span class="bar" aria-hidden="true">
        <svg viewBox="0 0 100 8" preserveAspectRatio="none">
          <rect width={(rate * 100).toFixed(1)} height="8" />
        </svg>
      </span>
      {percentText(rate, lang)}
    </span>
  )

const healthPills = {
  healthy: ['ok', 'check'],
  degraded: ['wait', 'alert'],
  down: ['bad', 'cross'],
  quiet: ['', undefined],
  disabled: ['', 'stop'],
} as const

export const HealthPill = ({ health, lang }: { health: keyof typeof healthPills; lang: Lang }) => {
  const [tone, icon] = healthPills[health]
  return (
    <span class={tone ? `pill ${tone}` : 'pill'}>
      {icon ? <Icon name={icon} /> : <span aria-hidden="true">…</span>}
      {liveTexts[lang].healths[health]}
    </span>
  )
}
