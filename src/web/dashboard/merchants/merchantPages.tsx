import { handoverState } from '../../../actions/merchants/keyHandover.ts'
import type { findMerchants, MerchantView } from '../../../actions/merchants/merchantPages.ts'
import { FormToken, Icon } from '../../../core/markup/page.tsx'
import { readMerchantSettings } from '../../../core/merchant/settings.ts'
import { settingsOfGroup, settingTable } from '../../../core/merchant/settingTable.ts'
import { shownSettings } from '../../../core/merchant/shownSettings.ts'
import { fill } from '../../../core/text.ts'
import { OperatorPlacePage } from '../frame/frame.tsx'
import { zonedDayMinute } from '../frame/zonedTime.ts'
import { DoneNotice } from '../ownAccount/ownAccountPages.tsx'
import { merchantBase, operatorBase, type Visit } from '../route.ts'
import { type MerchantNotice, merchantsTexts } from './merchantsTexts.ts'

type ListProps = {
  visit: Visit
  query: string
  list: Awaited<ReturnType<typeof findMerchants>>
  isFirst: boolean
}

const pathOf = (id: string) => `${operatorBase}/merchants/${encodeURIComponent(id)}`
const day = (at: Date) => at.toISOString().slice(0, 10)

export const MerchantListPage = ({ visit, query, list: { merchants, next }, isFirst }: ListProps) => {
  const texts = merchantsTexts[visit.lang]
  const listPath = `${operatorBase}/merchants`
  const nextQuery =
    next && new URLSearchParams({ q: query, after: next.sort_name, id: next.merchant_id }).toString()
  return (
    <OperatorPlacePage visit={visit} title={texts.title} place="merchants">
      <div class="title">
        <h1>{texts.title}</h1>
        {visit.may('merchants.manage') && (
          <a class="btn" href={`${listPath}/new`}>
            {texts.add}
          </a>
        )}
      </div>
      <form method="get" action={listPath} class="search-row">
        <input
          class="input"
          type="search"
          name="q"
          value={query}
          maxlength={100}
          aria-label={texts.search}
          placeholder={texts.search}
          title={texts.searchHint}
        />
        <button type="submit" class="btn plain">
          {texts.find}
        </button>
      </form>
      <section class="card">
        {merchants.length === 0 ? (
          <p class="empty">
            <span>{query ? texts.none : texts.empty}</span>
          </p>
        ) : (
          <table class="fold">
            <thead>
              <tr>
                <th>{texts.name}</th>
                <th>{texts.state}</th>
                <th>{texts.id}</th>
                <th>{texts.currencies}</th>
                <th class="r">{texts.since}</th>
              </tr>
            </thead>
            <tbody>
              {merchants.map(({ merchant_id, name, active, settings, created_at }) => (
                <tr>
                  <td>
                    <a href={pathOf(merchant_id)}>
                      <b>{name}</b>
                    </a>
                  </td>
                  <td>
                    <ActivePill isActive={active} lang={visit.lang} />
                  </td>
                  <td>
                    <code>{merchant_id}</code>
                  </td>
                  <td>{readMerchantSettings(settings).currencies.join(', ')}</td>
                  <td class="r">{day(created_at)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
        {(nextQuery || !isFirst) && (
          <div class="pager">
            <span>{!isFirst && <a href={listPath}>{texts.first}</a>}</span>
            {nextQuery && (
              <a class="btn plain small" href={`${listPath}?${nextQuery}`}>
                {texts.next}
              </a>
            )}
          </div>
        )}
      </section>
    </OperatorPlacePage>
  )
}

const ActivePill = ({ isActive, lang }: { isActive: boolean; lang: Visit['lang'] }) => (
  <span class={isActive ? 'pill ok' : 'pill'}>
    <Icon name={isActive ? 'check' : 'stop'} />
    {isActive ? merchantsTexts[lang].active : merchantsTexts[lang].inactive}
  </span>
)

type MerchantProps = {
  visit: Visit
  view: MerchantView
  link?: string
  zone: string
  notice?: MerchantNotice
}

export const MerchantPlacePage = (props: MerchantProps) => {
  const { visit, view, notice } = props
  const texts = merchantsTexts[visit.lang]
  const { merchant, outlets } = view
  const { merchant_id, name, active } = merchant
  return (
    <OperatorPlacePage visit={visit} title={name} place="merchants">
      <p class="crumb">
        <a href={`${operatorBase}/merchants`}>{texts.all}</a>
      </p>
      <DoneNotice text={notice && texts.done[notice]} />
      <div class="title">
        <h1>{name}</h1>
        <ActivePill isActive={active} lang={visit.lang} />
      </div>
      <HandoverCard {...props} />
      <div class="halves">
        <section class="card stack">
          <h2>{texts.facts}</h2>
          <dl class="facts">
            <dt>{texts.id}</dt>
            <dd>
              <code>{merchant_id}</code>
            </dd>
            <dt>{texts.since}</dt>
            <dd>{day(merchant.created_at)}</dd>
            <dt>{texts.outlets}</dt>
            <dd>{outlets.length === 0 ? '–' : outlets.map(one => one.name).join(', ')}</dd>
          </dl>
        </section>
        <section class="card stack">
          <h2>{texts.sees}</h2>
          <p class="small muted">{texts.seesText}</p>
          <div class="row">
            <a class="btn plain small" href={merchantBase(merchant_id, 'live')}>
              {texts.seesLive}
            </a>
            <a class="btn plain small" href={merchantBase(merchant_id, 'test')}>
              {texts.seesTest}
            </a>
          </div>
        </section>
      </div>
      {(['limits', 'fees', 'refunds'] as const).map(group => (
        <SettingsCard visit={visit} merchant={merchant} group={group} />
      ))}
      {visit.may('merchants.manage') && (
        <section class="card stack">
          <p>{active ? texts.deactivateText : texts.activateText}</p>
          <form method="post" action={`${pathOf(merchant_id)}/active`}>
            <input type="hidden" name="active" value={active ? 'off' : 'on'} />
            <FormToken token={visit.formToken} />
            <button type="submit" class={active ? 'btn danger small' : 'btn small'}>
              {active ? texts.deactivate : texts.activate}
            </button>
          </form>
        </section>
      )}
    </OperatorPlacePage>
  )
}

type SettingsProps = {
  visit: Visit
  merchant: MerchantView['merchant']
  group: 'limits' | 'fees' | 'refunds'
}

// What the operator decides, each with what it does. The merchant's own page of settings has the form.
const SettingsCard = ({ visit: { lang, may }, merchant, group }: SettingsProps) => {
  const texts = merchantsTexts[lang]
  const names = new Set(settingsOfGroup(group).filter(name => settingTable[name].decidedBy === 'operator'))
  const titles = { limits: texts.limits, fees: texts.fees, refunds: texts.refundRules }
  return (
    <section class="card">
      <header>
        <h2>{titles[group]}</h2>
        {may('settings.change') && (
          <a href={`${merchantBase(merchant.merchant_id, 'live')}/settings/${group}`}>{texts.change}</a>
        )}
      </header>
      <table class="fold">
        <tbody>
          {shownSettings(merchant.settings)
            .filter(({ name }) => names.has(name))
            .map(({ name, value, isDefault }) => (
              <tr>
                <td>
                  <b>{settingTable[name].texts[lang].label}</b>
                  <br />
                  <span class="tiny muted">{settingTable[name].texts[lang].does}</span>
                </td>
                <td class="r setting">
                  {value ?? texts.noValue} {isDefault && <span class="muted">({texts.byDefault})</span>}
                </td>
              </tr>
            ))}
        </tbody>
      </table>
    </section>
  )
}

// The link is for those who may onboard only: it shows the keys.
const HandoverCard = ({ visit, view: { merchant, handover }, link, zone }: MerchantProps) => {
  const texts = merchantsTexts[visit.lang]
  if (!handover || !visit.may('merchants.manage')) return null
  const state = handoverState(handover, visit.now)
  const text = {
    waiting: fill(texts.keysWaiting, { at: zonedDayMinute(handover.expires_at, zone, visit.lang) }),
    opened: fill(texts.keysOpened, {
      at: handover.opened_at ? zonedDayMinute(handover.opened_at, zone, visit.lang) : '',
    }),
    expired: texts.keysExpired,
    revoked: texts.keysRevoked,
  }[state]
  return (
    <section class="card stack">
      <h2>{texts.keys}</h2>
      <p>{text}</p>
      {state === 'waiting' && (
        <p>
          <code>{link}</code>
        </p>
      )}
      {(state === 'waiting' || state === 'expired') && (
        <form method="post" action={`${pathOf(merchant.merchant_id)}/keys`} class="row">
          <input type="hidden" name="handover" value={handover.handover_id} />
          <FormToken token={visit.formToken} />
          <button type="submit" class="btn plain small">
            {texts.renew}
          </button>
          <span class="small muted">{texts.renewText}</span>
        </form>
      )}
    </section>
  )
}
