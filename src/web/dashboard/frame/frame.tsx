import { gzipSync } from 'node:zlib'
import { isPermitted, type Permission, type Role } from '../../../core/access/permissions.ts'
import { type Child, type PropsWithChildren, raw, written } from '../../../core/markup/jsx-runtime.ts'
import {
  FormToken,
  Icon,
  NoticeCard,
  PageFrame,
  pageHeaders,
  pagePolicy,
  Sentence,
  SiteMark,
} from '../../../core/markup/page.tsx'
import type { Mode } from '../../../core/mode.ts'
import { stripBidiControls } from '../../../core/text.ts'
import { htmlType } from '../../http/apiRequest.ts'
import { type Ctx, plainResponse } from '../../http/context.ts'
import { type MerchantVisit, merchantBase, operatorBase, type Visit } from '../route.ts'
import { frameTexts } from './frameTexts.ts'
import { type Place, PlaceIcon, PlusIcon } from './icons.tsx'
import { dashboardStyles } from './styles.ts'

type NavPlace = { place: Place; path: string; permission: Permission }

const merchantPlaces: readonly NavPlace[] = [
  { place: 'overview', path: '', permission: 'overview.view' },
  { place: 'payments', path: '/payments', permission: 'payments.view' },
  { place: 'take', path: '/take', permission: 'take.payment' },
  { place: 'money', path: '/money', permission: 'money.view' },
  { place: 'developers', path: '/developers', permission: 'developers.view' },
  { place: 'settings', path: '/settings', permission: 'settings.view' },
]

const operatorPlaces: readonly NavPlace[] = [
  { place: 'live', path: '', permission: 'live.view' },
  { place: 'merchants', path: '/merchants', permission: 'merchants.view' },
  { place: 'accounts', path: '/accounts', permission: 'accounts.view' },
  { place: 'tasks', path: '/tasks', permission: 'tasks.view' },
  { place: 'refunds', path: '/refunds', permission: 'operator_refunds.view' },
  { place: 'messages', path: '/messages', permission: 'messages.view' },
  { place: 'people', path: '/people', permission: 'people.find' },
  { place: 'users', path: '/users', permission: 'users.view' },
  { place: 'audit', path: '/audit', permission: 'operator_audit.view' },
]

// The first page that a role may see.
export const firstPath = (role: Role, places: readonly NavPlace[] = merchantPlaces) =>
  places.find(({ permission }) => isPermitted(role, permission))?.path ?? ''

type PageProps<V extends Visit> = PropsWithChildren<{ visit: V; title: string; place?: Place; head?: Child }>

// A page of one merchant: white navigation, the merchant's name, and the mode, which is always visible.
export const MerchantPage = ({ visit, title, place, head, children }: PageProps<MerchantVisit>) => {
  const texts = frameTexts[visit.lang]
  const { merchant, mode, base } = visit
  const isOperator = visit.role.at === 'operator'
  return (
    <DashboardFrame
      visit={visit}
      title={`${title}, ${merchant.name}`}
      places={merchantPlaces}
      base={base}
      place={place}
      head={head}
      band={
        mode === 'test' ? (
          <section class="test" aria-label={texts.mode}>
            {texts.testBand}
          </section>
        ) : undefined
      }
      who={
        <a class="who" href="/dashboard/places">
          <span class="mark" aria-hidden="true">
            {initials(merchant.name)}
          </span>
          <span>{merchant.name}</span>
          <Icon name="down" />
        </a>
      }
      switches={<ModeSwitch visit={visit} mode={mode} />}
    >
      {isOperator && (
        <p class="viewing">
          <Sentence text={texts.viewing} merchant={<b>{merchant.name}</b>} />{' '}
          <a href={`${operatorBase}/merchants`}>{texts.backToMerchants}</a>
        </p>
      )}
      {children}
    </DashboardFrame>
  )
}

// The other mode opens on the user's first page: a cashier has no overview.
const ModeSwitch = ({ visit: { merchant, lang, role }, mode }: { visit: MerchantVisit; mode: Mode }) => (
  <nav class="switch" aria-label={frameTexts[lang].mode}>
    {(['test', 'live'] as const).map(one => (
      <a
        class={one}
        href={`${merchantBase(merchant.merchant_id, one)}${firstPath(role)}`}
        aria-current={one === mode ? 'true' : undefined}
      >
        {frameTexts[lang][one]}
      </a>
    ))}
  </nav>
)

type OperatorPageProps = PageProps<Visit> & {
  beside?: Child // the title
  switches?: Child
  searched?: string
  counts?: PlaceCounts // of what waits at a place
}

// A page of the operator: dark green navigation.
export const OperatorPlacePage = (props: OperatorPageProps) => {
  const { visit, title, place, head, beside, switches, searched, counts, children } = props
  return (
    <DashboardFrame
      visit={visit}
      title={title}
      places={operatorPlaces}
      base={operatorBase}
      place={place}
      head={head}
      isOperator
      counts={counts}
      who={
        <>
          <b class="who">{title}</b>
          {beside}
        </>
      }
      switches={
        <>
          <SearchForm lang={visit.lang} searched={searched} only="d" />
          {switches}
        </>
      }
    >
      <SearchForm lang={visit.lang} searched={searched} only="p" />
      {children}
    </DashboardFrame>
  )
}

type SearchFormProps = { lang: Visit['lang']; searched?: string; only: 'd' | 'p' }

// Finds a payment of any merchant: in the bar on a desk, above the page on a phone.
const SearchForm = ({ lang, searched, only }: SearchFormProps) => {
  const { findPayment, find } = frameTexts[lang]
  return (
    <form method="get" action={`${operatorBase}/search`} class={`find-payment only-${only}`} role="search">
      <span class="input dense">
        <input type="search" name="q" value={searched} aria-label={findPayment} placeholder={findPayment} />
      </span>
      <button type="submit" class="btn plain small">
        {find}
      </button>
    </form>
  )
}

// A page of the user's own account.
export const OwnPage = ({ visit, title, head, children }: PageProps<Visit>) => (
  <DashboardFrame
    visit={visit}
    title={title}
    places={[]}
    base="/dashboard"
    head={head}
    who={<b class="who">{title}</b>}
  >
    {children}
  </DashboardFrame>
)

type FrameProps = PropsWithChildren<{
  visit: Visit
  title: string
  places: readonly NavPlace[]
  base: string
  place?: Place
  head?: Child
  band?: Child
  who: Child
  switches?: Child
  isOperator?: boolean
  counts?: PlaceCounts
}>

type PlaceCounts = Partial<Record<Place, number>>

const tabsOnPhone = 4 // and "More", which opens the rest

// The pages show texts of customers, shops and providers, so bidi controls are removed from all of the page.
const DashboardFrame = (props: FrameProps) => {
  const { visit, title, places, base, place, head, band, who, switches, isOperator, counts, children } = props
  const texts = frameTexts[visit.lang]
  const allowed = places.filter(({ permission }) => visit.may(permission))
  const shortNames: Partial<Record<Place, string>> = texts.shortPlaces
  const link = ({ place: name, path }: NavPlace) => (
    <a href={`${base}${path}`} aria-current={name === place ? 'page' : undefined}>
      <PlaceIcon name={name} />
      {texts.places[name]}
      {counts?.[name] ? <span class="n">{counts[name]}</span> : null}
    </a>
  )
  // Taking a payment is the green button in the middle.
  const tab = ({ place: name, path }: NavPlace) => (
    <a
      href={`${base}${path}`}
      aria-current={name === place ? 'page' : undefined}
      class={name === 'take' ? 'go' : undefined}
    >
      <span class="sign">
        {name === 'take' ? <PlusIcon /> : <PlaceIcon name={name} />}
        {counts?.[name] ? <span class="count">{counts[name]}</span> : null}
      </span>
      {shortNames[name] ?? texts.places[name]}
    </a>
  )
  const frame = (
    <>
      <a class="skip" href="#main">
        {texts.skip}
      </a>
      {visit.installation.is !== 'original' && (
        <section class="test" aria-label={texts.copy.title}>
          {visit.installation.is === 'copy' ? texts.copyBand : texts.movedBand}
        </section>
      )}
      {band}
      <div class={isOperator ? 'frame op' : 'frame'}>
        <aside class="side">
          <a class="brand" href="/dashboard">
            <SiteMark />
            <span>
              Tollgate
              {isOperator && <small>{texts.operator}</small>}
            </span>
          </a>
          <nav aria-label={texts.dashboard}>
            {allowed.map(link)}
            <a class="rest" href="/docs">
              <PlaceIcon name="docs" />
              {texts.places.docs}
            </a>
          </nav>
        </aside>
        <div class="work">
          <header class="bar-top">
            {who}
            <span class="gap" />
            {switches}
            <UserMenu visit={visit} />
          </header>
          <main class="main" id="main">
            {children}
          </main>
        </div>
        {allowed.length > 1 && (
          <nav class="tabs" aria-label={texts.dashboard}>
            {allowed.slice(0, tabsOnPhone).map(tab)}
            {allowed.length > tabsOnPhone && (
              <details class="more">
                <summary>
                  <span class="sign">
                    <PlaceIcon name="more" />
                  </span>
                  {texts.places.more}
                </summary>
                <div>{allowed.slice(tabsOnPhone).map(link)}</div>
              </details>
            )}
          </nav>
        )}
      </div>
    </>
  )
  return (
    <PageFrame lang={visit.lang} title={stripBidiControls(title)} styles={[dashboardStyles]} head={head}>
      {raw(stripBidiControls(written(frame)))}
    </PageFrame>
  )
}

const UserMenu = ({ visit }: { visit: Visit }) => {
  const texts = frameTexts[visit.lang]
  const { name } = visit.signedIn.user
  return (
    <details class="user-menu">
      <summary class="user">
        <span class="mark" aria-hidden="true">
          {initials(name)}
        </span>
        <span>
          {name} <small>{texts.roles[visit.role.role]}</small>
        </span>
        <Icon name="down" />
      </summary>
      <div class="menu-box">
        <a href="/dashboard/account">{texts.account}</a>
        <form method="post" action="/dashboard/sign-out">
          <FormToken token={visit.formToken} />
          <button type="submit" class="btn quiet small">
            {texts.signOut}
          </button>
        </form>
      </div>
    </details>
  )
}

export const initials = (name: string) =>
  name
    .split(/\s+/)
    .filter(word => /^[\p{L}\p{N}]/u.test(word))
    .slice(0, 2)
    .map(word => [...word][0]?.toUpperCase())
    .join('')

type BarePageProps = PropsWithChildren<{ lang: 'en' | 'fr'; title: string; head?: Child }>

// A page without navigation: sign-in, errors.
export const BarePage = ({ lang, title, head, children }: BarePageProps) => (
  <PageFrame
    lang={lang}
    title={stripBidiControls(title)}
    styles={[dashboardStyles]}
    head={head}
    bodyClass="bare"
  >
    <main class="bare-main" id="main">
      <a class="brand" href="/dashboard">
        <SiteMark />
        Tollgate
      </a>
      {raw(stripBidiControls(written(children)))}
    </main>
  </PageFrame>
)

type ProblemPageProps = { lang: 'en' | 'fr'; texts: { title: string; text: string } }

export const ProblemPage = ({ lang, texts: { title, text } }: ProblemPageProps) => (
  <BarePage lang={lang} title={title}>
    <NoticeCard title={title} tone="warn">
      <p>{text}</p>
      <p>
        <a href="/dashboard">{frameTexts[lang].notFound.back}</a>
      </p>
    </NoticeCard>
  </BarePage>
)

const policy = pagePolicy(
  "script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'",
)
const headers = {
  ...pageHeaders(`${policy}; require-trusted-types-for 'script'; trusted-types 'none'`),
  'content-type': htmlType,
  vary: 'accept-encoding',
}

// Compression reveals no form token by the length of the answer: each answer has another token.
export function sendDashboardPage(c: Ctx, page: Child, http = 200, more: Record<string, string> = {}) {
  const html = String(page)
  if (!c.req.header('accept-encoding')?.includes('gzip')) return plainResponse(c, http, html, headers, more)
  return plainResponse(c, http, gzipSync(html), headers, { 'content-encoding': 'gzip' }, more)
}
