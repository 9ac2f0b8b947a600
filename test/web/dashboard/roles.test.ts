import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  merchantRoles,
  operatorRoles,
  permissions,
  type Permission,
} from '../../../src/core/access/permissions.ts'
import { merchantBase, operatorBase } from '../../../src/web/dashboard/route.ts'
import {
  digestOfTables,
  everyRoute,
  filledPath,
  nameOf,
  requestsTo,
  type Seeded,
  seedPayments,
} from '../../support/dashboard/everyRoute.ts'
import { type DashboardClient, signedIn } from '../../support/dashboard/signedIn.ts'
import { type TestGateway, testGateway } from '../../support/gateway/gateway.ts'

// The table of src/core/access/permissions.ts as requests: every role times every page and action.

let gateway: TestGateway
let seeded: Seeded
let requests: Awaited<ReturnType<typeof requestsTo>>
const users = new Map<string, DashboardClient>()

const everyRole = [
  ...merchantRoles.map(role => ({ at: 'merchant' as const, role })),
  ...operatorRoles.map(role => ({ at: 'operator' as const, role })),
]
type AnyRole = (typeof everyRole)[number]
const keyOf = ({ at, role }: AnyRole) => `${at} ${role}`

beforeAll(async () => {
  gateway = await testGateway()
  seeded = await seedPayments(gateway)
  requests = await requestsTo(gateway)
  const { merchant_id } = seeded.merchant
  for (const key of everyRole)
    users.set(
      keyOf(key),
      await signedIn(
        gateway,
        key.at === 'merchant' ? { member: { merchant_id, role: key.role } } : { operator: key.role },
      ),
    )
  const member = { merchant_id: seeded.other.merchant_id, role: 'owner' as const }
  users.set('owner elsewhere', await signedIn(gateway, { member }))
  users.set('nobody', await signedIn(gateway, {}))
})
afterAll(() => gateway.stop())

const userOf = (key: string) => users.get(key) as DashboardClient

const routes = [
  ...everyRoute.merchant.map(route => ({ part: 'merchant' as const, route })),
  ...everyRoute.operator.map(route => ({ part: 'operator' as const, route })),
]
type Listed = (typeof routes)[number]

const pathOf = ({ part, route }: Listed) =>
  (part === 'operator' ? operatorBase : merchantBase(seeded.merchant.merchant_id, 'test')) +
  filledPath(route.path, seeded)

const rolesOf = (permission: Permission) => {
  const { merchant, operator } = permissions[permission]
  return everyRole.filter(({ at, role }) =>
    (at === 'merchant' ? (merchant as readonly string[]) : operator).includes(role),
  )
}

// 403 says that the role is too small. 404 says nothing: whoever has no part here does not learn what exists.
function refusalsOf({ part, route }: Listed): [who: string, http: number][] {
  const allowed = rolesOf(route.permission).map(keyOf)
  const refused = everyRole.filter(key => !allowed.includes(keyOf(key)))
  const isOutside = ({ at }: AnyRole) => part === 'operator' && at === 'merchant'
  return [
    ...refused.map(key => [keyOf(key), isOutside(key) ? 404 : 403] as [string, number]),
    ['owner elsewhere', 404],
    ['nobody', 404],
  ]
}

const isOwnEnd = (location: string | null) => /^\/dashboard\/(sign-in|confirm)/.test(location ?? '')

test('there are routes, and each has a permission of the table', () => {
  expect(routes.length).toBeGreaterThan(0)
  for (const { route } of routes) expect(Object.keys(permissions)).toContain(route.permission)
})

describe('refused', () => {
  for (const listed of routes)
    test(nameOf(listed.part, listed.route), async () => {
      const isChange = listed.route.method === 'post'
      const before = isChange ? await digestOfTables(gateway) : undefined
      const path = pathOf(listed)
      const expected = refusalsOf(listed)
      const answers = await Promise.all(
        expected.map(async ([who]) => [who, (await requests.send(listed.route, path, userOf(who))).status]),
      )
      expect(answers).toEqual(expected)
      const stranger = await requests.send(listed.route, path, undefined)
      expect([stranger.status, isOwnEnd(stranger.headers.get('location'))]).toEqual([303, true])
      if (before) expect(await digestOfTables(gateway)).toEqual(before)
    })
})

describe('a payment of another merchant', () => {
  for (const listed of routes.filter(({ route }) => route.path.includes(':reference')))
    test(`${nameOf(listed.part, listed.route)} does not exist`, async () => {
      const before = await digestOfTables(gateway)
      const path = pathOf(listed).replace(seeded.reference, seeded.otherReference)
      for (const key of rolesOf(listed.route.permission)) {
        if (listed.part === 'operator') continue // an operator sees all merchants
        const answer = await requests.send(listed.route, path, userOf(keyOf(key)))
        expect([keyOf(key), answer.status]).toEqual([keyOf(key), 404])
      }
      expect(await digestOfTables(gateway)).toEqual(before)
    })
})

describe('allowed', () => {
  for (const listed of routes)
    test(nameOf(listed.part, listed.route), async () => {
      for (const key of rolesOf(listed.route.permission)) {
        const answer = await requests.send(listed.route, pathOf(listed), userOf(keyOf(key)))
        const who = `${keyOf(key)} got ${answer.status}`
        expect([401, 403].includes(answer.status) || answer.status >= 500, who).toBe(false)
        expect(isOwnEnd(answer.headers.get('location')), `${who}: ${answer.headers.get('location')}`).toBe(
          false,
        )
      }
    })
})
