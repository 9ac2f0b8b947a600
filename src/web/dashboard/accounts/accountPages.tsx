import { storedText } from '../../../core/timeline/storedSentences.ts'
import type { LiveAccount } from '../../../actions/installation/liveView.ts'
import type { MethodFigures } from '../../../actions/providers/accountPages.ts'
import type { findStoredAccount } from '../../../actions/providers/accountPages.ts'
import type { AccountCheck } from '../../../actions/providers/checkAccount.ts'
import { FormToken } from '../../../core/markup/page.tsx'
import type { Mode } from '../../../core/mode.ts'
import { endedTotal, meanSecondsToPay, successRate } from '../../../core/operator/minuteCounts.ts'
import { paymentMethodName } from '../../../core/provider/paymentMethod.ts'
import { cleanText, fill } from '../../../core/text.ts'
import type { OpenedAccount } from '../../../runtime/providers/accounts.ts'
import { OperatorPlacePage } from '../frame/frame.tsx'
import { shortAge } from '../frame/zonedTime.ts'
import { AccountsTable, HealthPill, type MethodBadges, MethodRow, RateBar } from '../live/accountsTable.tsx'
import { DoneNotice } from '../ownAccount/ownAccountPages.tsx'
import { operatorBase, type Visit } from '../route.ts'
import { type AccountNotice, accountsTexts } from './accountsTexts.ts'

const accountsPath = `${operatorBase}/accounts`

type ListProps = {
  visit: Visit
  lists: readonly { mode: Mode; accounts: readonly LiveAccount[] }[]
  zone: string
  badges: MethodBadges
}

export const AccountListPage = ({ visit, lists, zone, badges }: ListProps) => {
  const texts = accountsTexts[visit.lang]
  return (
    <OperatorPlacePage visit={visit} title={texts.title} place="accounts">
      <div class="title">
        <h1>{texts.title}</h1>
        {visit.may('accounts.manage') && (
          <a class="btn" href={`${accountsPath}/new`}>
            {texts.add}
          </a>
        )}
      </div>
      {lists.map(({ mode, accounts }) => (
        <section class="card">
          <header>
            <h2>{texts[mode]}</h2>
          </header>
          <AccountsTable lang={visit.lang} accounts={accounts} zone={zone} badges={badges} />
        </section>
      ))}
    </OperatorPlacePage>
  )
}

type AccountProps = {
  visit: Visit
  name: string
  account: OpenedAccount | undefined
  row: Awaited<ReturnType<typeof findStoredAccount>>
  figures: readonly MethodFigures[]
  webhook?: string
  zone: string
  badges: MethodBadges
  notice?: AccountNotice
  check?: AccountCheck
}

export const AccountPage = (props: AccountProps) => {
  const { visit, name, account, row, notice, check } = props
  const texts = accountsTexts[visit.lang]
  const mode = account?.mode ?? row?.mode ?? 'test'
  return (
    <OperatorPlacePage visit={visit} title={name} place="accounts">
      <p class="crumb">
        <a href={accountsPath}>{texts.all}</a>
      </p>
      <DoneNotice text={notice && texts.done[notice]} />
      {check && (
        <p class={check.outcome === 'good' ? 'notice ok' : 'notice'} role="status">
          {fill(texts.checks[check.outcome], { words: storedText(check.words, visit.lang) })}
        </p>
      )}
      <div class="title">
        <h1>
          {name} <span class="pill">{texts[mode]}</span>
        </h1>
        {row && visit.may('accounts.manage') && (
          <a class="btn plain" href={`${accountsPath}/${encodeURIComponent(name)}/settings`}>
            {texts.settingsText}
          </a>
        )}
      </div>
      {account?.fault && <p class="notice bad">{fill(texts.fault, { why: account.fault })}</p>}
      <MethodsCard {...props} />
      <ErrorsCard {...props} />
      <FactsCard {...props} />
      {row ? (
        visit.may('accounts.manage') && <ActionsCard visit={visit} row={row} />
      ) : (
        <p class="empty">
          <span>{fill(texts.environment, { account: name })}</span>
        </p>
      )}
    </OperatorPlacePage>
  )
}

const answerMs = (ms: number | null) => (ms === null ? '–' : ms < 1000 ? `${ms} ms` : `${ms / 1000} s`)

const MethodsCard = ({ visit: { lang }, figures, account, row, badges }: AccountProps) => {
  const texts = accountsTexts[lang]
  const isDisabled = account?.isDisabled ?? row?.disabled_at !== null
  return (
    <section class="card">
      <header>
        <h2>{texts.methods}</h2>
      </header>
      {figures.length === 0 ? (
        <p class="empty">
          <span>{texts.noMethods}</span>
        </p>
      ) : (
        <table class="fold">
          <thead>
            <tr>
              <th>{texts.method}</th>
              <th class="r">{texts.ended}</th>
              <th class="r">{texts.success}</th>
              <th class="r">{texts.toPay}</th>
              <th class="r">{texts.answers}</th>
              <th>{texts.health}</th>
            </tr>
          </thead>
          <tbody>
            {figures.map(one => {
              const seconds = meanSecondsToPay(one.ended)
              return (
                <tr>
                  <td>
                    <span class="method">
                      <MethodRow methods={[one.payment_method]} badges={badges} />
                      {badges.has(one.payment_method) && paymentMethodName(one.payment_method)}
                    </span>
                  </td>
                  <td class="r" data-head={texts.ended}>
                    {endedTotal(one.ended)}
                  </td>
                  <td class="r">
                    <RateBar rate={successRate(one.ended)} lang={lang} />
                  </td>
                  <td class="r" data-head={texts.toPay}>
                    {seconds === undefined ? '–' : `${Math.round(seconds)} s`}
                  </td>
                  <td class="r" data-head={texts.answers}>
                    {answerMs(one.p50_ms)}, {answerMs(one.p95_ms)}
                  </td>
                  <td>
                    <HealthPill health={isDisabled ? 'disabled' : one.health} lang={lang} />
                  </td>
                </tr>
              )
            })}
          </tbody>
        </table>
      )}
    </section>
  )
}

const maxError = 300

const ErrorsCard = ({ visit, figures }: AccountProps) => {
  const texts = accountsTexts[visit.lang]
  const failed = figures.filter(one => one.last_error !== null)
  const codes = figures.flatMap(one => one.unknown_codes)
  return (
    <section class="card stack">
      <h2>{texts.lastErrors}</h2>
      {failed.length === 0 && <p class="muted small">{texts.noErrors}</p>}
      <ul>
        {failed.map(one => (
          <li class="small">
            <b>{paymentMethodName(one.payment_method)}</b>{' '}
            <span class="muted num">
              {shortAge(
                new Date(visit.now.getTime() - (one.last_error_seconds_ago ?? 0) * 1000),
                visit.now,
                visit.lang,
              )}
            </span>{' '}
            {cleanText(storedText(one.last_error ?? '', visit.lang), maxError)}
          </li>
        ))}
      </ul>
      {codes.length > 0 && (
        <>
          <h3>{texts.codes}</h3>
          <ul>
            {codes.map(({ sample, count }) => (
              <li class="small">
                {count} × {cleanText(sample, maxError)}
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  )
}

const FactsCard = ({ visit, account, row, webhook }: AccountProps) => {
  const texts = accountsTexts[visit.lang]
  const merchant_id = account?.merchant_id ?? row?.merchant_id
  const label = row?.label ?? account?.label
  return (
    <section class="card stack">
      <h2>{texts.facts}</h2>
      <dl class="facts">
        <dt>{texts.provider}</dt>
        <dd>{account?.provider ?? row?.provider}</dd>
        <dt>{texts.owner}</dt>
        <dd>
          {merchant_id ? <a href={`${operatorBase}/merchants/${merchant_id}`}>{merchant_id}</a> : texts.ofAll}
        </dd>
        {label && (
          <>
            <dt>{texts.label}</dt>
            <dd>{label}</dd>
          </>
        )}
        {webhook && (
          <>
            <dt>{texts.webhook}</dt>
            <dd>
              <code>{webhook}</code>
            </dd>
          </>
        )}
        {Object.entries(row?.settings ?? {}).map(([setting, value]) => (
          <>
            <dt>{setting}</dt>
            <dd>{value}</dd>
          </>
        ))}
      </dl>
    </section>
  )
}

const ActionsCard = ({ visit, row }: { visit: Visit; row: NonNullable<AccountProps['row']> }) => {
  const texts = accountsTexts[visit.lang]
  const path = `${accountsPath}/${encodeURIComponent(row.account)}`
  const isEnabled = row.disabled_at === null
  return (
    <section class="card stack">
      <form method="post" action={`${path}/test`} class="row">
        <FormToken token={visit.formToken} />
        <button type="submit" class="btn plain small">
          {texts.testIt}
        </button>
        <span class="small muted">{texts.testText}</span>
      </form>
      <form method="post" action={`${path}/enabled`} class="row">
        <input type="hidden" name="enabled" value={isEnabled ? 'off' : 'on'} />
        <input type="hidden" name="version" value={String(row.version)} />
        <FormToken token={visit.formToken} />
        <button type="submit" class={isEnabled ? 'btn danger small' : 'btn small'}>
          {isEnabled ? texts.disable : texts.enable}
        </button>
        <span class="small muted">{isEnabled ? texts.disableText : texts.enableText}</span>
      </form>
    </section>
  )
}
