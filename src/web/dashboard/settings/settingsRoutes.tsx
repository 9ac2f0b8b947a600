import { changeLogo } from '../../../actions/merchants/logos.ts'
import {
  readSettings,
  type SettingFault,
  type SettingField,
  type SettingsView,
  saveSettingsForm,
} from '../../../actions/merchants/saveSettingsForm.ts'
import type { SettingName } from '../../../core/merchant/settings.ts'
import {
  isDecidedByOperator,
  isSensitiveGroup,
  type SettingGroup,
  settingGroups,
  settingsOfGroup,
} from '../../../core/merchant/settingTable.ts'
import { pagePolicy, privatePageHeaders } from '../../../core/markup/page.tsx'
import { fill } from '../../../core/text.ts'
import { htmlType } from '../../http/apiRequest.ts'
import { type Ctx, plainResponse } from '../../http/context.ts'
import type { AreaDeps } from '../areaDeps.ts'
import { sendDashboardPage } from '../frame/frame.tsx'
import { settingFaultIn } from '../../../core/merchant/settingFaultTexts.ts'
import { problemPage } from '../frame/problems.tsx'
import type { MerchantRoute, MerchantVisit } from '../route.ts'
import { CheckoutPreview, LogoCard, PreviewCard, previewedBranding } from './brandingPages.tsx'
import {
  decidesAt,
  EditSettingsPage,
  IpnPasswordsPage,
  mayEdit,
  SettingsPage,
  settingsTextsOf,
} from './settingsPages.tsx'
import type { SettingsNotice } from './settingsTexts.ts'

// The settings of a merchant: all of them on one page, and a form for each group.
export const settingsRoutes = (deps: AreaDeps): MerchantRoute[] => [
  {
    method: 'get',
    path: '/settings',
    permission: 'settings.view',
    handle: (c, visit) => showSettings(deps, c, visit),
  },
  ...settingGroups.flatMap(group => groupRoutes(deps, group)),
  {
    method: 'get',
    path: '/settings/branding/preview',
    permission: 'settings.view',
    handle: sendPreview,
  },
  {
    method: 'post',
    path: '/settings/branding/show',
    permission: 'settings.change',
    handle: (c, visit) => showForm(c, visit, { group: 'branding', ...typedIn(visit, 'branding') }),
  },
  {
    method: 'post',
    path: '/settings/logo',
    permission: 'settings.change',
    hasFile: true,
    handle: (c, visit) => saveLogoForm(c, visit, visit.file('logo')),
  },
  {
    method: 'post',
    path: '/settings/logo/remove',
    permission: 'settings.change',
    handle: (c, visit) => saveLogoForm(c, visit, 'none'),
  },
]

// A form that is open may be read by anybody at the screen, so a sensitive group asks for the password before it is opened.
const groupRoutes = (deps: AreaDeps, group: SettingGroup): MerchantRoute[] => {
  const common = {
    path: `/settings/${group}`,
    permission: isDecidedByOperator(group) ? 'limits.change' : 'settings.change',
    isSensitive: isSensitiveGroup(group),
  } as const
  return [
    { ...common, method: 'get', handle: (c, visit) => showForm(c, visit, { group }) },
    { ...common, method: 'post', handle: (c, visit) => saveForm(deps, c, visit, group) },
  ]
}

const notices: readonly SettingsNotice[] = ['saved', 'unchanged', 'logo', 'noLogo', 'stale']

const done = (c: Ctx, { base }: MerchantVisit, notice: SettingsNotice) =>
  c.redirect(`${base}/settings?done=${notice}`, 303)

async function showSettings({ redactDays }: AreaDeps, c: Ctx, visit: MerchantVisit) {
  const view = await readSettings(visit.db, visit.merchant.merchant_id)
  if (!view) return problemPage(c, visit.lang, 'notFound')
  const notice = notices.find(word => word === c.req.query('done'))
  return sendDashboardPage(
    c,
    <SettingsPage visit={visit} view={view} redactDays={redactDays} links={linksOf(visit)} notice={notice} />,
  )
}

const linksOf = (visit: MerchantVisit) => [
  { path: '/settings/outlets', label: settingsTextsOf(visit).outlets },
  ...(visit.may('team.view') ? [{ path: '/settings/team', label: settingsTextsOf(visit).team }] : []),
  ...(visit.may('audit.view') ? [{ path: '/settings/audit', label: settingsTextsOf(visit).audit }] : []),
]

type Texts = Partial<Record<SettingName, string>>
type Shown = {
  group: SettingGroup
  typed?: Texts
  seen?: Texts
  faults?: readonly SettingFault[]
  logoFault?: string
}

async function showForm(c: Ctx, visit: MerchantVisit, { logoFault, ...shown }: Shown) {
  const view = await readSettings(visit.db, visit.merchant.merchant_id)
  if (!view) return problemPage(c, visit.lang, 'notFound')
  if (!mayEdit(visit, shown.group)) return problemPage(c, visit.lang, 'refused')
  const isBranding = shown.group === 'branding'
  const http = shown.faults?.some(fault => 'isStale' in fault) ? 409 : shown.faults || logoFault ? 422 : 200
  return sendDashboardPage(
    c,
    <EditSettingsPage
      visit={visit}
      view={view}
      {...shown}
      beside={isBranding && <PreviewCard visit={visit} values={shown.typed ?? brandingTexts(view)} />}
      below={isBranding && <LogoCard visit={visit} view={view} fault={logoFault} />}
    />,
    http,
  )
}

const brandingTexts = ({ settings }: SettingsView): Texts =>
  Object.fromEntries(settingsOfGroup('branding').map(name => [name, settings?.[name] ?? '']))

const typedIn = (visit: MerchantVisit, group: SettingGroup) => ({
  typed: Object.fromEntries(settingsOfGroup(group).map(name => [name, visit.field(name)])) as Texts,
  seen: Object.fromEntries(settingsOfGroup(group).map(name => [name, visit.field(`seen_${name}`)])) as Texts,
})

async function saveForm({ masterKeys }: AreaDeps, c: Ctx, visit: MerchantVisit, group: SettingGroup) {
  const { typed, seen } = typedIn(visit, group)
  const fields = settingsOfGroup(group).map(
    (name): SettingField => ({ name, seen: seen[name] ?? '', typed: typed[name] ?? '' }),
  )
  const saved = await saveSettingsForm(visit.db, visit.merchant.merchant_id, fields, {
    actor: visit.actor,
    by: visit.signedIn.user.name,
    at: decidesAt(visit),
    masterKeys,
    now: visit.now,
  })
  if (saved.done === 'refused') return showForm(c, visit, { group, typed, seen, faults: saved.faults })
  if (saved.done === 'saved' && saved.ipn_passwords)
    return sendDashboardPage(c, <IpnPasswordsPage visit={visit} passwords={saved.ipn_passwords} />)
  return done(c, visit, saved.done)
}

async function saveLogoForm(c: Ctx, visit: MerchantVisit, given: Buffer | 'none' | undefined) {
  const texts = settingsTextsOf(visit)
  if (!given) return showForm(c, visit, { group: 'branding', logoFault: texts.logoMissing })
  const file = given === 'none' ? undefined : given
  const changed = await changeLogo(
    visit.db,
    visit.merchant.merchant_id,
    { seen: visit.field('seen'), file },
    visit,
  )
  if (changed.done === 'refused')
    return showForm(c, visit, {
      group: 'branding',
      logoFault: fill(texts.logoFault, { fault: settingFaultIn(changed.fault, visit.lang) }),
    })
  if (changed.done === 'saved') return done(c, visit, file ? 'logo' : 'noLogo')
  return done(c, visit, changed.done)
}

// Only our own pages may frame it. Nothing in it runs.
const previewHeaders = {
  ...privatePageHeaders,
  'content-security-policy': pagePolicy("style-src 'self'; img-src 'self'", "'self'"),
  'x-frame-options': 'SAMEORIGIN',
  'content-type': htmlType,
}

async function sendPreview(c: Ctx, visit: MerchantVisit) {
  const { merchant_id } = visit.merchant
  const view = await readSettings(visit.db, merchant_id)
  if (!view) return problemPage(c, visit.lang, 'notFound')
  const values = Object.fromEntries(
    settingsOfGroup('branding').map(name => [name, (c.req.query(name) ?? '').slice(0, 2000)]),
  )
  const branding = previewedBranding(merchant_id, view, values)
  return plainResponse(c, 200, String(<CheckoutPreview visit={visit} branding={branding} />), previewHeaders)
}
