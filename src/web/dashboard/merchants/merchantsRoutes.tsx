import { changeActive, findMerchants, readMerchantView } from '../../../actions/merchants/merchantPages.ts'
import {
  handoverPath,
  openHandover,
  readHandover,
  renewHandover,
} from '../../../actions/merchants/keyHandover.ts'
import {
  newMerchantFaults,
  newMerchantForm,
  onboardGuided,
  type NewMerchant,
} from '../../../actions/merchants/onboardGuided.ts'
import { isPlainText } from '../../../core/text.ts'
import type { Ctx } from '../../http/context.ts'
import type { AreaDeps } from '../areaDeps.ts'
import { sendDashboardPage } from '../frame/frame.tsx'
import { problemPage } from '../frame/problems.tsx'
import { type OperatorRoute, operatorBase, type PublicRoute, type PublicVisit, type Visit } from '../route.ts'
import { HandedKeysPage, HandoverPage } from './handoverPages.tsx'
import { MerchantListPage, MerchantPlacePage } from './merchantPages.tsx'
import { type MerchantNotice, merchantsTexts } from './merchantsTexts.ts'
import { NewMerchantPage } from './newMerchantPage.tsx'

export const merchantsRoutes = (deps: AreaDeps): OperatorRoute[] => {
  const manage = { permission: 'merchants.manage' } as const
  return [
    { method: 'get', path: '/merchants', permission: 'merchants.view', handle: listPage },
    {
      method: 'get',
      path: '/merchants/new',
      ...manage,
      isSensitive: true,
      handle: (c, visit) =>
        sendDashboardPage(c, <NewMerchantPage visit={visit} form={newMerchantForm()} faults={{}} />),
    },
    {
      method: 'post',
      path: '/merchants/new',
      ...manage,
      isSensitive: true,
      handle: (c, visit) => makeMerchant(deps, c, visit),
    },
    {
      method: 'get',
      path: '/merchants/:id',
      permission: 'merchants.view',
      handle: (c, visit) => merchantPage(deps, c, visit),
    },
    {
      method: 'post',
      path: '/merchants/:id/active',
      ...manage,
      isSensitive: true,
      handle: setActiveForm,
    },
    {
      method: 'post',
      path: '/merchants/:id/keys',
      ...manage,
      isSensitive: true,
      handle: (c, visit) => renewForm(deps, c, visit),
    },
  ]
}

const idOf = (c: Ctx) => c.req.param('id') ?? ''
const merchantPath = (id: string) => `${operatorBase}/merchants/${encodeURIComponent(id)}`
const done = (c: Ctx, id: string, notice: MerchantNotice) =>
  c.redirect(`${merchantPath(id)}?done=${notice}`, 303)

async function listPage(c: Ctx, visit: Visit) {
  const query = (c.req.query('q') ?? '').trim()
  const [name, id] = [c.req.query('after'), c.req.query('id')]
  const after = name && id && isPlainText(name + id) ? { sort_name: name, merchant_id: id } : undefined
  const list = await findMerchants(visit.db, query, after)
  return sendDashboardPage(
    c,
    <MerchantListPage visit={visit} query={query} list={list} isFirst={after === undefined} />,
  )
}

async function merchantPage({ runtime }: AreaDeps, c: Ctx, visit: Visit) {
  const view = await readMerchantView(visit.db, idOf(c))
  if (!view) return problemPage(c, visit.lang, 'notFound')
  const notices = Object.keys(merchantsTexts[visit.lang].done) as MerchantNotice[]
  const link = view.handover && `${runtime.dashboardUrl()}${handoverPath(runtime.formKey, view.handover)}`
  return sendDashboardPage(
    c,
    <MerchantPlacePage
      visit={visit}
      view={view}
      link={link}
      zone={runtime.timeZone}
      notice={notices.find(one => one === c.req.query('done'))}
    />,
  )
}

const fieldNames = ['contact_email', 'currencies', 'allowed_origins', 'ipn_url'] as const

async function makeMerchant({ masterKeys, runtime }: AreaDeps, c: Ctx, visit: Visit) {
  const form: NewMerchant = {
    merchant_id: visit.field('merchant_id'),
    name: visit.field('name'),
    owner_email: visit.field('owner_email').trim(),
    settings: Object.fromEntries(fieldNames.map(name => [name, visit.field(name)])),
  }
  const faults = newMerchantFaults(form)
  if (Object.keys(faults).length > 0)
    return sendDashboardPage(c, <NewMerchantPage visit={visit} form={form} faults={faults} />, 422)
  const { db, actor } = visit
  const { user } = visit.signedIn
  const outcome = await onboardGuided({ db, masterKeys, actor, user, now: runtime.clock() }, form)
  if (outcome !== 'already' && form.owner_email) runtime.wake('senders')
  return done(c, form.merchant_id, outcome === 'not_invited' ? 'not_invited' : 'made')
}

async function setActiveForm(c: Ctx, visit: Visit) {
  const active = visit.field('active') === 'on'
  const { actor, now, db } = visit
  const change = { merchant_id: idOf(c), active, actor, by: visit.signedIn.user.name }
  const outcome = await changeActive(db, change, now)
  if (!outcome) return problemPage(c, visit.lang, 'notFound')
  return done(c, idOf(c), outcome === 'already' ? 'already' : active ? 'activated' : 'deactivated')
}

async function renewForm({ masterKeys }: AreaDeps, c: Ctx, visit: Visit) {
  const key = { merchant_id: idOf(c), handover_id: visit.field('handover') }
  const { db, actor, now } = visit
  const outcome = await renewHandover({ db, masterKeys, actor, user: visit.signedIn.user, now }, key)
  if (!outcome) return problemPage(c, visit.lang, 'notFound')
  return done(c, key.merchant_id, outcome === 'made' ? 'renewed' : 'already')
}

const askedOf = (c: Ctx) => ({
  merchant_id: c.req.param('merchant') ?? '',
  handover_id: c.req.param('handover') ?? '',
  secret: c.req.param('secret') ?? '',
})

const cookie = ({ formCookie }: PublicVisit) => ({ 'set-cookie': formCookie })

// The one-time link. Only the form uses it up.
export const handoverRoutes = ({ runtime, masterKeys }: AreaDeps): PublicRoute[] => {
  const path = '/keys/:merchant/:handover/:secret'
  const { formKey } = runtime
  return [
    {
      method: 'get',
      path,
      async handle(c, visit) {
        const found = await readHandover(visit.db, formKey, askedOf(c), visit.now)
        const page = <HandoverPage visit={visit} path={c.req.path} found={found} />
        return sendDashboardPage(c, page, found ? 200 : 404, cookie(visit))
      },
    },
    {
      method: 'post',
      path,
      async handle(c, visit) {
        const { db, address, now } = visit
        const opened = await openHandover({ db, masterKeys, formKey, address, now }, askedOf(c))
        if (!opened) return c.redirect(c.req.path, 303)
        return sendDashboardPage(c, <HandedKeysPage lang={visit.lang} opened={opened} />, 200, cookie(visit))
      },
    },
  ]
}
