import { invite } from '../../../src/actions/access/invitations.ts'
import { startUserSession } from '../../../src/actions/access/sessions.ts'
import { addHandover, handoverPath } from '../../../src/actions/merchants/keyHandover.ts'
import { rotateIpnSecret } from '../../../src/actions/merchants/credentials.ts'
import { setMerchant } from '../../../src/actions/merchants/setMerchant.ts'
import { setLogo } from '../../../src/actions/merchants/logos.ts'
import { type Credentials, onboard } from '../../../src/actions/merchants/onboard.ts'
import type { Actor } from '../../../src/core/access/audit.ts'
import type { MerchantRole, OperatorRole } from '../../../src/core/access/permissions.ts'
import { type UserLink, userLinkAddress } from '../../../src/core/access/userLink.ts'
import { newAccountName } from '../../../src/runtime/ids.ts'
import { type Db, sql } from '../../../src/store/db.ts'
import { lockMerchant } from '../../../src/store/merchants/merchants.ts'
import type { MasterKeys } from '../../../src/store/merchants/vault.ts'
import { post, signedRequest } from '../merchant/merchant.ts'
import { speckledPng } from '../merchant/pictures.ts'
import { paidInvoice } from '../merchant/refunds.ts'
import { type FormPlace, openForm, submitForm } from './openForm.ts'
import { addReset, addTask, addUnknownRefund, addWaiting } from './seedRows.ts'
import { type DashboardClient, signedIn } from './signedIn.ts'

// Every form of the dashboard that changes something, each with rows of its own: where it is, how often it has happened by
// the tables, and how often by the audit log.

export type World = {
  db: Db
  url(): string
  masterKeys: MasterKeys
  formKey: Buffer
  merchant: { merchant_id: string; test: Credentials }
}

type Rows = ReturnType<typeof sql>
export type PreparedForm = FormPlace & {
  happened(fields: Record<string, string>): Rows
  entries: Rows
}
export type FormAction = {
  name: string
  prepare(world: World): Promise<PreparedForm>
  isNew?: true // each form that is opened is for another thing
  isRecordedFirst?: true // the audit log has each beginning, before anything happens
  again: RegExp // the page that a later submission leads to says so
}

const actor: Actor = { kind: 'command', id: 'test', address: 'test' }
const change = () => ({ actor, by: 'Esi Adjei', now: new Date() })
const operator = '/dashboard/operator'
const password = 'four words that differ'
const account = '/dashboard/account'
let people = 0

const merchantUser = ({ db, url, merchant: { merchant_id } }: World, role: MerchantRole = 'owner') =>
  signedIn({ db, url: url() }, { member: { merchant_id, role } })
const operatorUser = ({ db, url }: World, role: OperatorRole = 'admin') =>
  signedIn({ db, url: url() }, { operator: role })
const baseOf = ({ merchant }: World) => `/dashboard/m/${merchant.merchant_id}/test`
const newEmail = () => `person-${process.pid}-${++people}@example.com`

const entriesBy = ({ user_id }: DashboardClient, action: string) =>
  sql`select 1 from audit_entries where actor_id = ${user_id} and action = ${action}`

// A form of a signed-in user, who submits no other one.
async function formOf(
  user: DashboardClient,
  audit: string,
  place: Omit<FormPlace, 'user'>,
  happened: (fields: Record<string, string>) => Rows,
): Promise<PreparedForm> {
  return { user, ...place, happened, entries: entriesBy(user, audit) }
}

const paid = ({ url, merchant }: World, fields: Record<string, string> = {}) =>
  paidInvoice(url(), merchant.test, fields)
const requested = async ({ url, merchant }: World) =>
  String((await post(url(), signedRequest(merchant.test))).body.tx_reference)
const otherMerchant = ({ db, masterKeys }: World) =>
  onboard(db, masterKeys, 'Kente House', ['test', 'live'], new Date())
const linkOf = (result: { link: UserLink } | string): UserLink => {
  if (typeof result === 'string') throw new Error(`not invited: ${result}`)
  return result.link
}

async function waiting(world: World) {
  const asker = await merchantUser(world, 'accountant')
  const payment = await paid(world)
  const { merchant_id } = world.merchant
  return addWaiting(world.db, { merchant_id, ...payment, requester_id: asker.user_id })
}

const refundsNamed = (refund: string) => sql`select 1 from refunds where refund_reference = ${refund}`

async function memberForm(world: World, name: 'change' | 'remove', typed: Record<string, string>) {
  const [owner, member] = [await merchantUser(world), await merchantUser(world, 'cashier')]
  const team = `${baseOf(world)}/settings/team`
  const place = { page: `${team}/member?user=${member.user_id}`, action: `${team}/${name}`, typed }
  return { owner, member, place }
}

async function personForm(
  world: World,
  name: string,
  audit: string,
  typed: Record<string, string>,
  done: Rows,
  { active = true } = {},
) {
  const [admin, person] = [await operatorUser(world), await operatorUser(world, 'support')]
  await world.db.rows(sql`update users set active = ${active} where user_id = ${person.user_id}`)
  const place = {
    page: `${operator}/users/person?user=${person.user_id}`,
    action: `${operator}/users/${name}`,
    typed,
  }
  return formOf(
    admin,
    audit,
    place,
    () => sql`select 1 from users where user_id = ${person.user_id} and ${done}`,
  )
}

async function taskForm(
  world: World,
  name: string,
  audit: string,
  typed: Record<string, string>,
  done: Rows,
  { isTaken = false } = {},
) {
  const user = await operatorUser(world, 'support')
  const { merchant_id } = world.merchant
  const tx_reference = await requested(world)
  await addTask(world.db, { merchant_id, tx_reference })
  if (isTaken)
    await world.db.rows(sql`
      update tasks set owner = ${user.user_id}, worked_at = now() where tx_reference = ${tx_reference}`)
  const page = `${operator}/tasks/${merchant_id}/${tx_reference}/unresolved`
  return formOf(
    user,
    audit,
    { page, action: `${page}/${name}`, typed },
    () => sql`select 1 from tasks where tx_reference = ${tx_reference} and ${done}`,
  )
}

async function decisionForm(
  world: World,
  who: 'merchant' | 'operator',
  name: 'approve' | 'reject',
  happened: (refund: string) => Rows,
) {
  const refund = await waiting(world)
  const user = who === 'merchant' ? await merchantUser(world) : await operatorUser(world, 'finance')
  const page = who === 'merchant' ? `${baseOf(world)}/money/refunds` : `${operator}/refunds`
  const typed: Record<string, string> = name === 'reject' ? { reason: 'Asked twice.' } : {}
  const place = { page, action: `${page}/${name}`, of: { refund }, typed }
  return formOf(user, `refund.${name}`, place, () => happened(refund))
}

function newAccount(admin: DashboardClient) {
  const page = `${operator}/accounts/new?provider=paystack&mode=test`
  const typed = {
    setting_secret_key: `sk_test_${'0a'.repeat(20)}`,
    unchecked: 'on',
    account: newAccountName('paystack'),
  }
  return { page, action: `${operator}/accounts/new`, typed, user: admin }
}

async function handover(world: World, made_by: string) {
  const merchant = await otherMerchant(world)
  const { db, masterKeys } = world
  const { merchant_id, test, live } = merchant
  if (!test || !live) throw new Error('no keys')
  await db.transaction(async tx => {
    const locked = await lockMerchant(tx, merchant_id)
    if (locked)
      await addHandover(
        { tx, masterKeys, merchant: locked, user_id: made_by, now: new Date() },
        { test, live },
      )
  })
  const row = await db.one<{ handover_id: string }>(
    sql`select handover_id from key_handovers where merchant_id = ${merchant_id}`,
  )
  return { merchant_id, handover_id: row?.handover_id ?? '' }
}

const settingForm =
  (group: string, name: string, value: string, role: 'owner' | 'admin'): FormAction['prepare'] =>
  async world => {
    const merchant = { ...world.merchant, ...(await otherMerchant(world)) }
    const user = role === 'owner' ? await merchantUser({ ...world, merchant }) : await operatorUser(world)
    const { merchant_id } = merchant
    const page = `/dashboard/m/${merchant_id}/test/settings/${group}`
    return formOf(
      user,
      'settings.change',
      { page, action: page, typed: { [name]: value } },
      () => sql`select 1 from merchants where merchant_id = ${merchant_id} and settings->>${name} = ${value}`,
    )
  }

// A form of a person's own account. A change that ends all sessions leads a later submission to the sign-in page.
async function ownForm(
  world: World,
  path: string,
  audit: string,
  typed: Record<string, string>,
  done: Rows,
): Promise<PreparedForm> {
  const user = await merchantUser(world, 'accountant')
  const { user_id } = user
  await world.db.rows(sql`update users set sealed_totp = ${Buffer.from('set up')} where user_id = ${user_id}`)
  const happened = sql`select 1 from users where user_id = ${user_id} and ${done}`
  return formOf(user, audit, { page: account, action: `${account}/${path}`, typed }, () => happened)
}

const done = /That was done before/
const signedOut = /Forgotten your password|I have forgotten my password/
const elsewhere = /It was changed in another window|Nothing was changed/

export const formActions: FormAction[] = [
  {
    name: 'refund a payment',
    again: done,
    async prepare(world) {
      const { tx_reference } = await paid(world)
      const page = `${baseOf(world)}/payments/${tx_reference}/refund`
      const place = { page, action: page, typed: { part: 'whole', reason: 'Broken.' } }
      const refunds = sql`select 1 from refunds where tx_reference = ${tx_reference}`
      return formOf(await merchantUser(world), 'refund.create', place, () => refunds)
    },
  },
  {
    name: 'approve a refund as a second person',
    again: /Approved\. The refund is on its way/,
    prepare: world => decisionForm(world, 'merchant', 'approve', refundsNamed),
  },
  {
    name: 'reject a refund',
    again: /decided meanwhile/,
    prepare: world =>
      decisionForm(
        world,
        'merchant',
        'reject',
        refund =>
          sql`select 1 from refund_approvals where refund_reference = ${refund} and state = 'rejected'`,
      ),
  },
  {
    name: 'approve a refund as the operator',
    again: /decided before/,
    prepare: world => decisionForm(world, 'operator', 'approve', refundsNamed),
  },
  {
    name: 'record what became of a refund',
    again: /decided before/,
    async prepare(world) {
      const { merchant_id } = world.merchant
      const { tx_reference } = await paid(world)
      const charge = await world.db.one<{ attempt_id: string }>(
        sql`select attempt_id from attempts where tx_reference = ${tx_reference}`,
      )
      const attempt_id = charge?.attempt_id ?? ''
      const refund = await addUnknownRefund(world.db, { merchant_id, tx_reference, attempt_id })
      const page = `${operator}/refunds`
      const typed = { outcome: 'succeeded', at: '2026-01-05', reference: 'FT-7781', note: '' }
      const recorded = sql`select 1 from refunds where refund_reference = ${refund} and state = 'succeeded'`
      const place = { page, action: `${page}/record`, of: { refund }, typed }
      return formOf(await operatorUser(world, 'finance'), 'refund.record', place, () => recorded)
    },
  },
  {
    name: 'send a receipt again',
    again: done,
    async prepare(world) {
      const { db } = world
      const { tx_reference } = await paid(world, { number: '+233241234000' })
      const messages = sql`select 1 from messages where tx_reference = ${tx_reference} and topic = 'paid'`
      await sentAll(db, tx_reference)
      const before = (await db.rows(messages)).length
      const page = `${baseOf(world)}/payments/${tx_reference}`
      const place = { page, action: `${page}/receipt`, of: { medium: 'sms' } }
      const more = sql`
        select 1 from messages where tx_reference = ${tx_reference} and topic = 'paid' offset ${before}`
      return formOf(await merchantUser(world), 'receipt.send', place, () => more)
    },
  },
  {
    name: 'send a notification again',
    again: done,
    async prepare(world) {
      const { tx_reference } = await paid(world, { ipn_url: 'https://shop.example/ipn' })
      await world.db.rows(sql`
        update deliveries set next_try_at = null, lease_until = null, lease_token = null, exhausted_at = now(),
          begun_at = created_at
        where tx_reference = ${tx_reference}`)
      const page = `${baseOf(world)}/payments/${tx_reference}`
      return formOf(
        await merchantUser(world),
        'notification.redeliver',
        { page, action: `${page}/redeliver` },
        // Sending it again begins its schedule anew. A first try that was on its way may still be written down.
        () => sql`select 1 from deliveries where tx_reference = ${tx_reference} and begun_at > created_at`,
      )
    },
  },
  {
    name: 'cancel a payment',
    again: done,
    async prepare(world) {
      const tx_reference = await requested(world)
      const page = `${baseOf(world)}/payments/${tx_reference}`
      return formOf(
        await merchantUser(world),
        'payment.cancel',
        { page, action: `${page}/cancel` },
        () => sql`select 1 from payments where tx_reference = ${tx_reference} and status = 'cancelled'`,
      )
    },
  },
  {
    name: 'take a payment',
    isNew: true,
    again: /35\.00/,
    async prepare(world) {
      const page = `${baseOf(world)}/take`
      const user = await merchantUser(world, 'cashier')
      const taken = sql`select 1 from taken_payments where user_id = ${user.user_id}`
      return formOf(user, 'payment.take', { page, action: page, typed: { total: '35.00' } }, () => taken)
    },
  },
  {
    name: 'change a setting',
    again: /Nothing was different/,
    prepare: settingForm('checkout', 'expiry_minutes', '45', 'owner'),
  },
  {
    name: 'change a limit',
    again: /Nothing was different/,
    prepare: settingForm('limits', 'rate_burst', '77', 'admin'),
  },
  {
    name: 'add an outlet',
    again: /There is this outlet already/,
    async prepare(world) {
      const { merchant_id } = await otherMerchant(world)
      const page = `/dashboard/m/${merchant_id}/test/settings/outlets`
      const outlets = sql`select 1 from outlets where merchant_id = ${merchant_id}`
      const place = { page, action: page, typed: { code: 'osu', name: 'Osu' } }
      return formOf(await operatorUser(world), 'outlet.add', place, () => outlets)
    },
  },
  {
    name: 'make a new password of notifications',
    again: elsewhere,
    async prepare(world) {
      const { merchant_id } = await otherMerchant(world)
      const { db, masterKeys } = world
      const basic = ['ipn_style=basic', 'ipn_url=https://shop.example/ipn']
      await setMerchant(db, merchant_id, basic, masterKeys)
      const sealed = sql`select sealed_test_ipn_password from merchants where merchant_id = ${merchant_id}`
      const before = await db.one<{ sealed_test_ipn_password: Buffer }>(sealed)
      const page = `/dashboard/m/${merchant_id}/test/developers`
      const changed = sql`
        select 1 from merchants where merchant_id = ${merchant_id}
          and sealed_test_ipn_password <> ${before?.sealed_test_ipn_password ?? null}`
      const place = { page, action: `${page}/rotate-password` }
      return formOf(await operatorUser(world), 'ipn_password.rotate', place, () => changed)
    },
  },
  {
    name: 'make a new key',
    again: elsewhere,
    async prepare(world) {
      const { merchant_id } = await otherMerchant(world)
      const page = `/dashboard/m/${merchant_id}/test/developers`
      const keys = sql`select 1 from merchant_keys where merchant_id = ${merchant_id} and mode = 'test' offset 1`
      return formOf(
        await operatorUser(world),
        'key.rotate',
        { page, action: `${page}/rotate-key` },
        () => keys,
      )
    },
  },
  {
    name: 'invite a person to a team',
    isNew: true,
    again: /The invitation is on its way/,
    async prepare(world) {
      const email = newEmail()
      const page = `${baseOf(world)}/settings/team/invite`
      const mails = sql`select 1 from user_mails where email = ${email} and kind = 'invitation'`
      const place = { page, action: page, typed: { email, role: 'developer' } }
      return formOf(await merchantUser(world), 'user.invite', place, () => mails)
    },
  },
  {
    name: 'invite a person to the operator',
    isNew: true,
    again: /The invitation is on its way/,
    async prepare(world) {
      const email = newEmail()
      const page = `${operator}/users/invite`
      const mails = sql`select 1 from user_mails where email = ${email} and kind = 'invitation'`
      const place = { page, action: page, typed: { email, role: 'support' } }
      return formOf(await operatorUser(world), 'user.invite', place, () => mails)
    },
  },
  {
    name: 'revoke an invitation',
    again: elsewhere,
    async prepare(world) {
      const { merchant_id } = world.merchant
      const grant = { merchant_id, role: 'developer', outlets: null } as const
      const link = linkOf(await invite(world.db, { email: newEmail(), lang: 'en' }, grant, change())).link_id
      const page = `${baseOf(world)}/settings/team`
      const gone = sql`select 1 where not exists (select from user_links where link_id = ${link})`
      const place = { page, action: `${page}/revoke`, of: { link } }
      return formOf(await merchantUser(world), 'user.invite_revoke', place, () => gone)
    },
  },
  {
    name: 'accept an invitation',
    again: /This link works no more/,
    async prepare(world) {
      const { merchant_id } = world.merchant
      const email = newEmail()
      const grant = { merchant_id, role: 'accountant', outlets: null } as const
      const link = linkOf(await invite(world.db, { email, lang: 'en' }, grant, change()))
      const page = userLinkAddress(world.formKey, '', link)
      const users = sql`select 1 from memberships join users using (user_id) where email = ${email}`
      const entries = sql`
        select 1 from audit_entries
        where action = 'user.invite_accept' and subject = (select user_id from users where email = ${email})`
      return { page, action: page, typed: { name: 'Yaa Asante', password }, happened: () => users, entries }
    },
  },
  {
    name: 'choose a new password by the link of a mail',
    again: /This link works no more/,
    async prepare(world) {
      const { user_id } = await merchantUser(world, 'accountant')
      const page = userLinkAddress(world.formKey, '', await addReset(world.db, user_id))
      const changed = sql`select 1 from users where user_id = ${user_id} and password_hash is not null`
      const entries = sql`
        select 1 from audit_entries where subject = ${user_id} and action = 'user.password_reset'`
      return { page, action: page, typed: { password }, happened: () => changed, entries }
    },
  },
  {
    name: 'change the role of a person',
    again: elsewhere,
    async prepare(world) {
      const { owner, member, place } = await memberForm(world, 'change', { role: 'accountant' })
      const changed = sql`select 1 from memberships where user_id = ${member.user_id} and role = 'accountant'`
      return formOf(owner, 'team.change', place, () => changed)
    },
  },
  {
    name: 'remove a person from a team',
    again: elsewhere,
    async prepare(world) {
      const { owner, member, place } = await memberForm(world, 'remove', {})
      const gone = sql`select 1 where not exists (select from memberships where user_id = ${member.user_id})`
      return formOf(owner, 'team.remove', place, () => gone)
    },
  },
  {
    name: 'sign out other browsers',
    again: /All other sessions have ended/,
    async prepare(world) {
      const user = await merchantUser(world, 'developer')
      const { user_id } = user
      await startUserSession(world.db, user_id, { address: '10.0.0.1', agent: 'Elsewhere' }, new Date())
      const page = account
      const alone = sql`select 1 where (select count(*) from user_sessions where user_id = ${user_id}) = 1`
      return formOf(user, 'user.sessions_end', { page, action: `${page}/sessions/others` }, () => alone)
    },
  },
  {
    name: 'change the role of an operator',
    again: elsewhere,
    prepare: world =>
      personForm(world, 'role', 'user.role', { role: 'finance' }, sql`operator_role = 'finance'`),
  },
  {
    name: 'deactivate a user',
    again: elsewhere,
    prepare: world => personForm(world, 'deactivate', 'user.deactivate', {}, sql`not active`),
  },
  {
    name: 'remove a second factor',
    again: elsewhere,
    prepare: world =>
      personForm(world, 'second-factor', 'user.second_factor_reset', {}, sql`sealed_totp is null`),
  },
  {
    name: 'onboard a merchant',
    isNew: true,
    again: /The merchant is registered/,
    async prepare(world) {
      const page = `${operator}/merchants/new`
      const place = { page, action: page, typed: { name: 'Kente House', owner_email: newEmail() } }
      return formOf(
        await operatorUser(world),
        'merchant.add',
        place,
        ({ merchant_id }) => sql`select 1 from key_handovers where merchant_id = ${merchant_id}`,
      )
    },
  },
  {
    name: 'make new keys for a link that nobody opened',
    again: /another person did it before you/,
    async prepare(world) {
      const admin = await operatorUser(world)
      const { merchant_id, handover_id } = await handover(world, admin.user_id)
      const page = `${operator}/merchants/${merchant_id}`
      const links = sql`
        select 1 from key_handovers where merchant_id = ${merchant_id} and handover_id <> ${handover_id}`
      return formOf(admin, 'handover.renew', { page, action: `${page}/keys` }, () => links)
    },
  },
  {
    name: 'open the link with the keys',
    again: /This link was used/,
    async prepare(world) {
      const key = await handover(world, (await operatorUser(world)).user_id)
      const page = handoverPath(world.formKey, key)
      const { handover_id } = key
      const opened = sql`select 1 from key_handovers where handover_id = ${handover_id} and opened_at is not null`
      const entries = sql`select 1 from audit_entries where subject = ${handover_id} and action = 'handover.open'`
      return { page, action: page, happened: () => opened, entries }
    },
  },
  {
    name: 'deactivate a merchant',
    again: /another person did it before you/,
    async prepare(world) {
      const { merchant_id } = await otherMerchant(world)
      const page = `${operator}/merchants/${merchant_id}`
      const inactive = sql`select 1 from merchants where merchant_id = ${merchant_id} and not active`
      const place = { page, action: `${page}/active` }
      return formOf(await operatorUser(world), 'merchant.deactivate', place, () => inactive)
    },
  },
  {
    name: 'add a provider account',
    isNew: true,
    again: /it was like this already/,
    async prepare(world) {
      const admin = await operatorUser(world)
      const place = newAccount(admin)
      const { account: name } = place.typed
      return formOf(
        admin,
        'account.add',
        place,
        () => sql`select 1 from provider_accounts where account = ${name}`,
      )
    },
  },
  {
    name: 'disable a provider account',
    again: /it was like this already/,
    async prepare(world) {
      const admin = await operatorUser(world)
      const place = newAccount(admin)
      const { account: name } = place.typed
      await submitForm(world.url(), await openForm(world.url(), place))
      const page = `${operator}/accounts/${name}`
      const disabled = sql`select 1 from provider_accounts where account = ${name} and disabled_at is not null`
      return formOf(admin, 'account.change', { page, action: `${page}/enabled` }, () => disabled)
    },
  },
  {
    name: 'erase a person',
    isRecordedFirst: true,
    again: /0 payments are erased/,
    async prepare(world) {
      const number = `+23324${String(7_000_000 + ++people)}`
      const { tx_reference } = await paid(world, { number })
      await sentAll(world.db, tx_reference)
      const page = `${operator}/people`
      const place = {
        page,
        action: `${page}/find`,
        submitTo: `${page}/erase`,
        typed: { person: number, sure: 'yes' },
      }
      const erased = sql`select 1 from payments where tx_reference = ${tx_reference} and number is null`
      return formOf(await operatorUser(world), 'person.erase', place, () => erased)
    },
  },
  {
    name: 'take a task',
    again: /it was like this already/,
    prepare: world => taskForm(world, 'take', 'task.take', {}, sql`owner is not null`),
  },
  {
    name: 'close a task',
    again: /it was like this already/,
    prepare: world =>
      taskForm(world, 'close', 'task.close', { note: 'Asked the provider.' }, sql`closed_at is not null`),
  },
  {
    name: 'make a new signing secret',
    again: elsewhere,
    async prepare(world) {
      const { merchant_id } = await otherMerchant(world)
      const page = `/dashboard/m/${merchant_id}/test/developers`
      const secrets = sql`select 1 from ipn_secrets where merchant_id = ${merchant_id} and mode = 'test' offset 1`
      const place = { page, action: `${page}/rotate-secret` }
      return formOf(await operatorUser(world), 'ipn_secret.rotate', place, () => secrets)
    },
  },
  {
    name: 'revoke a key',
    again: elsewhere,
    async prepare(world) {
      const { merchant_id, test } = await otherMerchant(world)
      const key = test?.merchant_key ?? ''
      const page = `/dashboard/m/${merchant_id}/test/developers`
      const ended = sql`select 1 from merchant_keys where merchant_key = ${key} and expires_at <= now()`
      const place = { page, action: `${page}/revoke-key`, of: { key } }
      return formOf(await operatorUser(world), 'key.revoke', place, () => ended)
    },
  },
  {
    name: 'revoke a signing secret',
    again: elsewhere,
    async prepare(world) {
      const { db, masterKeys } = world
      const { merchant_id } = await otherMerchant(world)
      await rotateIpnSecret(db, masterKeys, merchant_id, 'test', 86_400_000, new Date())
      const page = `/dashboard/m/${merchant_id}/test/developers`
      const ended = sql`
        select 1 from ipn_secrets where merchant_id = ${merchant_id} and mode = 'test' and expires_at <= now()`
      const place = { page, action: `${page}/revoke-secret` }
      return formOf(await operatorUser(world), 'ipn_secret.revoke', place, () => ended)
    },
  },
  {
    name: 'remove the logo',
    again: /Nothing was different/,
    async prepare(world) {
      const { merchant_id } = await otherMerchant(world)
      await setLogo(world.db, merchant_id, speckledPng(4096), new Date())
      const settings = `/dashboard/m/${merchant_id}/test/settings`
      const place = { page: `${settings}/branding`, action: `${settings}/logo/remove` }
      const gone = sql`
        select 1 where not exists (select from merchant_logos where merchant_id = ${merchant_id})`
      return formOf(await operatorUser(world), 'logo.remove', place, () => gone)
    },
  },
  {
    name: 'cancel a taken payment',
    again: /cancelled/i,
    async prepare(world) {
      const user = await merchantUser(world, 'cashier')
      const take = `${baseOf(world)}/take`
      const form = await openForm(world.url(), { user, page: take, action: take, typed: { total: '35.00' } })
      const page = (await submitForm(world.url(), form))?.headers.get('location') ?? ''
      const cancelled = sql`
        select 1 from payments where tx_reference = ${page.split('/').at(-1)} and status = 'cancelled'`
      return formOf(user, 'payment.cancel', { page, action: `${page}/cancel` }, () => cancelled)
    },
  },
  {
    name: 'revoke an invitation to the operator',
    again: elsewhere,
    async prepare(world) {
      const grant = { merchant_id: null, operator_role: 'support' } as const
      const link = linkOf(await invite(world.db, { email: newEmail(), lang: 'en' }, grant, change())).link_id
      const page = `${operator}/users`
      const gone = sql`select 1 where not exists (select from user_links where link_id = ${link})`
      const place = { page, action: `${page}/revoke`, of: { link } }
      return formOf(await operatorUser(world), 'user.invite_revoke', place, () => gone)
    },
  },
  {
    name: 'activate a user',
    again: elsewhere,
    prepare: world => personForm(world, 'activate', 'user.activate', {}, sql`active`, { active: false }),
  },
  {
    name: 'change the settings of a provider account',
    again: /changed (?:in another window|meanwhile)|Nothing was changed/,
    async prepare(world) {
      const admin = await operatorUser(world)
      const added = newAccount(admin)
      const { account: name } = added.typed
      await submitForm(world.url(), await openForm(world.url(), added))
      const page = `${operator}/accounts/${name}/settings`
      const changed = sql`select 1 from provider_accounts where account = ${name} and label = 'Second counter'`
      const place = { page, action: page, typed: { label: 'Second counter', unchecked: 'on' } }
      return formOf(admin, 'account.change', place, () => changed)
    },
  },
  {
    name: 'release a task',
    again: /it was like this already/,
    prepare: world => taskForm(world, 'release', 'task.release', {}, sql`owner is null`, { isTaken: true }),
  },
  {
    name: 'write a note about a task',
    again: /it was like this already/,
    prepare: world => taskForm(world, 'note', 'task.note', { note: 'Called.' }, sql`owner_note = 'Called.'`),
  },
  {
    name: 'end one session',
    again: /The session has ended/,
    async prepare(world) {
      const user = await merchantUser(world, 'developer')
      const { user_id } = user
      await startUserSession(world.db, user_id, { address: '10.0.0.1', agent: 'Elsewhere' }, new Date())
      const alone = sql`select 1 where (select count(*) from user_sessions where user_id = ${user_id}) = 1`
      const place = { page: account, action: `${account}/sessions/end` }
      return formOf(user, 'user.sessions_end', place, () => alone)
    },
  },
  {
    name: 'change the own name',
    again: /Saved\./,
    prepare: world =>
      ownForm(world, 'profile', 'user.change', { name: 'Yaa Asante' }, sql`name = 'Yaa Asante'`),
  },
  {
    name: 'change the own password',
    again: signedOut,
    prepare: world =>
      ownForm(world, 'password', 'user.password_change', { password }, sql`password_hash is not null`),
  },
  {
    name: 'remove the own second factor',
    again: signedOut,
    prepare: world =>
      ownForm(world, 'second-factor/remove', 'user.second_factor_remove', {}, sql`sealed_totp is null`),
  },
  {
    name: 'make new recovery codes',
    again: elsewhere,
    prepare: world =>
      ownForm(world, 'recovery-codes', 'user.recovery_codes', {}, sql`cardinality(recovery_digests) = 10`),
  },
]

// The sender would write its result over the next statement.
async function sentAll(db: Db, tx_reference: string) {
  const queued = sql`select 1 from messages where tx_reference = ${tx_reference} and state = 'queued'`
  const end = performance.now() + 60_000
  while ((await db.rows(queued)).length > 0) {
    if (performance.now() > end) throw new Error('a message is still queued')
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  await db.rows(
    sql`update messages set state = 'sent', next_try_at = null where tx_reference = ${tx_reference}`,
  )
}
