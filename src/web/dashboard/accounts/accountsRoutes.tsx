import { readLiveView } from '../../../actions/installation/liveView.ts'
import {
  type AccountFaults,
  addAccountForm,
  changeAccountForm,
  findStoredAccount,
  newAccountId,
  readMethodFigures,
  setAccountEnabled,
  settingFields,
  testStoredAccount,
} from '../../../actions/providers/accountPages.ts'
import type { AccountCheck } from '../../../actions/providers/checkAccount.ts'
import type { Mode } from '../../../core/mode.ts'
import type { ProviderSetting } from '../../../core/provider/provider.ts'
import { webhookIdOf } from '../../../runtime/providers/accounts.ts'
import type { Ctx } from '../../http/context.ts'
import type { AreaDeps } from '../areaDeps.ts'
import { sendDashboardPage } from '../frame/frame.tsx'
import { problemPage } from '../frame/problems.tsx'
import { badgesOf } from '../live/accountsTable.tsx'
import { type OperatorRoute, operatorBase, type Visit } from '../route.ts'
import { AccountFormPage, type AccountFormValues, ChooseProviderPage } from './accountForms.tsx'
import { AccountListPage, AccountPage } from './accountPages.tsx'
import { type AccountNotice, accountsTexts } from './accountsTexts.ts'
import { listedAccountsOf } from '../live/listedAccounts.ts'

const maxLabel = 100
const one = '/accounts/:account'

export const accountsRoutes = (deps: AreaDeps): OperatorRoute[] => {
  const manage = { permission: 'accounts.manage', isSensitive: true } as const
  const get = (path: string, handle: Handle): OperatorRoute => ({
    method: 'get',
    path,
    permission: 'accounts.view',
    handle: (c, visit) => handle(deps, c, visit),
  })
  const changing = (method: 'get' | 'post', path: string, handle: Handle): OperatorRoute => ({
    method,
    path,
    ...manage,
    handle: (c, visit) => handle(deps, c, visit),
  })
  return [
    get('/accounts', listAccountsPage),
    changing('get', '/accounts/new', newForm),
    changing('post', '/accounts/new', addForm),
    get(one, (own, c, visit) => showAccount(own, c, visit)),
    changing('get', `${one}/settings`, (own, c, visit) => settingsForm(own, c, visit)),
    changing('post', `${one}/settings`, saveForm),
    changing('post', `${one}/test`, testForm),
    changing('post', `${one}/enabled`, enabledForm),
  ]
}

type Handle = (deps: AreaDeps, c: Ctx, visit: Visit) => Promise<Response> | Response

const nameOf = (c: Ctx) => c.req.param('account') ?? ''
const pathOf = (account: string) => `${operatorBase}/accounts/${encodeURIComponent(account)}`
const done = (c: Ctx, account: string, notice: AccountNotice) =>
  c.redirect(`${pathOf(account)}?done=${notice}`, 303)

const deadlineMs = 10_000

// The provider may take twelve seconds to answer, so the statements after that get a deadline of their own.
const changingOf = ({ runtime, providers }: AreaDeps, visit: Visit) => ({
  db: () => runtime.db.withQuota('dashboard').withDeadline(performance.now() + deadlineMs),
  setup: providers.setup,
  ...changerOf(visit),
  clock: runtime.clock,
})

const changerOf = ({ actor, signedIn }: Visit) => ({ actor, by: signedIn.user.name })

async function listAccountsPage(deps: AreaDeps, c: Ctx, visit: Visit) {
  const { runtime, providers } = deps
  const accounts = listedAccountsOf(providers)
  const lists = await Promise.all(
    (['live', 'test'] as const).map(mode =>
      readLiveView(visit.db, {
        mode,
        now: visit.now,
        zone: runtime.timeZone,
        accounts: accounts.filter(account => account.mode === mode),
        takesLivePayments: false, // its concerns are not shown here
        installation: visit.installation,
      }),
    ),
  )
  return sendDashboardPage(
    c,
    <AccountListPage
      visit={visit}
      lists={lists.map(({ mode, accounts: figures }) => ({ mode, accounts: figures }))}
      zone={runtime.timeZone}
      badges={badgesOf(deps)}
    />,
  )
}

async function showAccount(deps: AreaDeps, c: Ctx, visit: Visit, check?: AccountCheck) {
  const { runtime, providers } = deps
  const account = providers.accounts().find(found => found.account === nameOf(c))
  const row = await findStoredAccount(visit.db, nameOf(c))
  if (!account && !row) return problemPage(c, visit.lang, 'notFound')
  const methods = account?.methods.map(({ payment_method }) => payment_method) ?? []
  const notices = Object.keys(accountsTexts[visit.lang].done) as AccountNotice[]
  const hasWebhook = account?.opened?.handleWebhook !== undefined
  return sendDashboardPage(
    c,
    <AccountPage
      visit={visit}
      name={nameOf(c)}
      account={account}
      row={row}
      figures={await readMethodFigures(visit.db, nameOf(c), methods, visit.now)}
      webhook={hasWebhook ? `${runtime.baseUrl()}/callbacks/account/${webhookIdOf(nameOf(c))}` : undefined}
      zone={runtime.timeZone}
      badges={badgesOf(deps)}
      notice={notices.find(word => word === c.req.query('done'))}
      check={check}
    />,
  )
}

const modeOf = (text: string | undefined): Mode => (text === 'live' ? 'live' : 'test')

const providersOf = ({ providers }: AreaDeps) =>
  [...providers.setup.providers].filter(([, { settings }]) => settings.length > 0).map(([name]) => name)

function newForm(deps: AreaDeps, c: Ctx, visit: Visit) {
  const provider = c.req.query('provider') ?? ''
  const kind = deps.providers.setup.providers.get(provider)
  if (!kind) return sendDashboardPage(c, <ChooseProviderPage visit={visit} providers={providersOf(deps)} />)
  return sendDashboardPage(
    c,
    <AccountFormPage
      visit={visit}
      fields={settingFields(kind)}
      values={{
        account: newAccountId(provider),
        provider,
        mode: modeOf(c.req.query('mode')),
        label: '',
        merchant: '',
        typed: {},
      }}
    />,
  )
}

// Secrets are never sent back to the browser.
const typedIn = (visit: Visit, fields: readonly ProviderSetting[]) =>
  Object.fromEntries(fields.map(({ name }) => [name, visit.field(`setting_${name}`)]))

const shownOf = (typed: Readonly<Record<string, string>>, fields: readonly ProviderSetting[]) =>
  Object.fromEntries(fields.flatMap(({ name, isSecret }) => (isSecret ? [] : [[name, typed[name] ?? '']])))

const labelOf = (visit: Visit) => visit.field('label').trim().slice(0, maxLabel)

type FormFault = { faults?: AccountFaults; check?: AccountCheck; attempts?: number }

async function addForm(deps: AreaDeps, c: Ctx, visit: Visit) {
  const provider = visit.field('provider')
  const kind = deps.providers.setup.providers.get(provider)
  if (!kind) return problemPage(c, visit.lang, 'notFound')
  const fields = settingFields(kind)
  const typed = typedIn(visit, fields)
  const merchant = visit.field('merchant').trim()
  const values: AccountFormValues = {
    account: visit.field('account'),
    provider,
    mode: modeOf(visit.field('mode')),
    label: labelOf(visit),
    merchant,
    typed: shownOf(typed, fields),
  }
  const outcome = await addAccountForm(changingOf(deps, visit), {
    ...values,
    merchant_id: merchant || null,
    label: values.label || null,
    typed,
    isUnchecked: visit.field('unchecked') === 'on',
  })
  if (outcome.done !== 'faulty') return done(c, values.account, outcome.done)
  const fault: FormFault = outcome
  return sendDashboardPage(
    c,
    <AccountFormPage visit={visit} fields={fields} values={values} {...fault} />,
    422,
  )
}

async function storedOf(deps: AreaDeps, c: Ctx, visit: Visit) {
  const row = await findStoredAccount(visit.db, nameOf(c))
  const kind = row && deps.providers.setup.providers.get(row.provider)
  return row && kind && { row, fields: settingFields(kind) }
}

async function settingsForm(
  deps: AreaDeps,
  c: Ctx,
  visit: Visit,
  shown?: FormFault & Pick<AccountFormValues, 'label' | 'typed'>,
) {
  const found = await storedOf(deps, c, visit)
  if (!found) return problemPage(c, visit.lang, 'notFound')
  const { row, fields } = found
  const values: AccountFormValues = {
    account: row.account,
    provider: row.provider,
    mode: row.mode,
    label: shown?.label ?? row.label ?? '',
    merchant: row.merchant_id ?? '',
    typed: shown?.typed ?? row.settings,
    version: String(row.version),
  }
  const { faults, check, attempts } = shown ?? {}
  return sendDashboardPage(
    c,
    <AccountFormPage
      visit={visit}
      fields={fields}
      values={values}
      faults={faults}
      check={check}
      attempts={attempts}
    />,
    shown ? 422 : 200,
  )
}

async function saveForm(deps: AreaDeps, c: Ctx, visit: Visit) {
  const found = await storedOf(deps, c, visit)
  if (!found) return problemPage(c, visit.lang, 'notFound')
  const { row, fields } = found
  const typed = typedIn(visit, fields)
  const business = visit.field('business')
  const label = labelOf(visit)
  const outcome = await changeAccountForm(changingOf(deps, visit), row, {
    seen: visit.field('version'),
    label: label || null,
    typed,
    business: business === 'same' || business === 'other' ? business : undefined,
    isUnchecked: visit.field('unchecked') === 'on',
  })
  const shown = { label, typed: shownOf(typed, fields) }
  if (outcome.done === 'needs_business')
    return settingsForm(deps, c, visit, { ...shown, attempts: outcome.attempts })
  if (outcome.done === 'faulty') return settingsForm(deps, c, visit, { ...shown, ...outcome })
  return done(c, row.account, outcome.done)
}

async function testForm(deps: AreaDeps, c: Ctx, visit: Visit) {
  const row = await findStoredAccount(visit.db, nameOf(c))
  if (!row) return problemPage(c, visit.lang, 'notFound')
  const check = await testStoredAccount(changingOf(deps, visit), row)
  return showAccount(deps, c, { ...visit, db: changingOf(deps, visit).db() }, check)
}

async function enabledForm(_deps: AreaDeps, c: Ctx, visit: Visit) {
  const row = await findStoredAccount(visit.db, nameOf(c))
  if (!row) return problemPage(c, visit.lang, 'notFound')
  const change = { isEnabled: visit.field('enabled') === 'on', seen: visit.field('version') }
  return done(c, row.account, await setAccountEnabled(visit.db, changerOf(visit), row, change, visit.now))
}
