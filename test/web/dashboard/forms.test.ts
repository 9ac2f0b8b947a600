import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Permission } from '../../../src/core/access/permissions.ts'
import { sql } from '../../../src/store/db.ts'
import { digestOfTables, everyRoute, nameOf, requestsTo } from '../../support/dashboard/everyRoute.ts'
import { filledFields, filledPath } from '../../support/dashboard/filledForms.ts'
import { type SeededRows, seedRows } from '../../support/dashboard/seedRows.ts'
import { type DashboardClient, signedIn } from '../../support/dashboard/signedIn.ts'
import { type TestGateway, testGateway } from '../../support/gateway/gateway.ts'

// What holds for every form, whatever its area.

let gateway: TestGateway
let rows: SeededRows
let requests: Awaited<ReturnType<typeof requestsTo>>
let owner: DashboardClient
let admin: DashboardClient
let other: DashboardClient
beforeAll(async () => {
  gateway = await testGateway()
  rows = await seedRows(gateway)
  requests = await requestsTo(gateway)
  const { merchant_id } = rows.merchant
  owner = await signedIn(gateway, { member: { merchant_id, role: 'owner' }, lang: 'fr' })
  other = await signedIn(gateway, { member: { merchant_id, role: 'owner' } })
  admin = await signedIn(gateway, { operator: 'admin', lang: 'fr' })
})
afterAll(() => gateway.stop())

const routes = (['merchant', 'operator', 'own', 'open'] as const).flatMap(part =>
  everyRoute[part].map(route => ({ part, route })),
)
type Listed = (typeof routes)[number]

const pathOf = ({ part, route }: Listed) =>
  filledPath(part, route.path, rows, rows.merchant, rows.merchant.unpaid)
const fieldsOf = ({ part, route }: Listed) => filledFields(part, route.path, rows, rows.merchant)
const userFor = ({ part }: Listed) => (part === 'operator' ? admin : owner)

describe('a form without its token, of another site, or with the token of another session changes nothing', () => {
  for (const listed of routes.filter(({ route }) => route.method === 'post'))
    test(nameOf(listed.part, listed.route), async () => {
      const before = await digestOfTables(gateway)
      const client = userFor(listed)
      const fields = fieldsOf(listed)
      const attacks = [
        { token: '' },
        { token: 'x'.repeat(55) },
        { origin: 'https://evil.example' },
        { token: requests.tokenOf(other) },
      ]
      for (const sent of attacks) {
        const answer = await requests.send(listed.route, pathOf(listed), client, { ...sent, fields })
        expect([sent, answer.status]).toEqual([sent, 403])
      }
      expect(await digestOfTables(gateway)).toEqual(before)
    })
})

// Whatever could redirect money, open an account to others, or look for persons.
const sensitive: readonly Permission[] = [
  'keys.manage',
  'team.manage',
  'merchants.manage',
  'accounts.manage',
  'operator_refunds.approve',
  'users.manage',
  'people.find',
  'people.erase',
]
const sensitivePaths = [
  '/settings/notifications',
  '/settings/requests',
  '/settings/refunds',
  '/money/refunds/approve',
]
const needsConfirmation = ({ route }: Listed) => 'isSensitive' in route && route.isSensitive === true

test('what could redirect money or open an account is sensitive', () => {
  for (const listed of routes) {
    const { path } = listed.route
    const isListed = 'permission' in listed.route && sensitive.includes(listed.route.permission)
    if (isListed || sensitivePaths.includes(path))
      expect([path, needsConfirmation(listed)]).toEqual([path, true])
  }
})

describe('without the password or a code of the last minutes, it asks for one and changes nothing', () => {
  for (const listed of routes.filter(needsConfirmation))
    test(nameOf(listed.part, listed.route), async () => {
      const client = userFor(listed)
      const setConfirmed = (ago: string) =>
        gateway.db.rows(sql`
          update user_sessions set confirmed_at = now() - ${ago}::interval where user_id = ${client.user_id}`)
      await setConfirmed('11 minutes')
      const before = await digestOfTables(gateway)
      const answer = await requests.send(listed.route, pathOf(listed), client, { fields: fieldsOf(listed) })
      expect([answer.status, answer.headers.get('location')?.split('?')[0]]).toEqual([
        303,
        '/dashboard/confirm',
      ])
      expect(await digestOfTables(gateway)).toEqual(before)
      await setConfirmed('0 minutes')
    })
})
