import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  merchantRoles,
  operatorRoles,
  permissions,
  type Permission,
} from '../../../src/core/access/permissions.ts'
import { digestOfTables, everyRoute, nameOf, requestsTo } from '../../support/dashboard/everyRoute.ts'
import { filledFields, filledPath } from '../../support/dashboard/filledForms.ts'
import {
  type MerchantRows,
  type SeededRows,
  seedRows,
  takePayment,
} from '../../support/dashboard/seedRows.ts'
import { type DashboardClient, signedIn } from '../../support/dashboard/signedIn.ts'
import { type TestGateway, testGateway } from '../../support/gateway/gateway.ts'

// The table of src/core/access/permissions.ts as requests: every role times every page and action. The addresses and the
// forms have ids of rows that exist, so a refusal does not come from a row that is missing.

let gateway: TestGateway
let rows: SeededRows
let requests: Awaited<ReturnType<typeof requestsTo>>
const users = new Map<string, DashboardClient>()
const taken = new Map<string, string>() // the payment that each user took

const everyRole = [
  ...merchantRoles.map(role => ({ at: 'merchant' as const, role })),
  ...operatorRoles.map(role => ({ at: 'operator' as const, role })),
]
type AnyRole = (typeof everyRole)[number]
const keyOf = ({ at, role }: AnyRole) => `${at} ${role}`

beforeAll(async () => {
  gateway = await testGateway()
  rows = await seedRows(gateway)
  requests = await requestsTo(gateway)
  const { merchant_id } = rows.merchant
  for (const key of everyRole)
    users.set(
      keyOf(key),
      await signedIn(
        gateway,
        key.at === 'merchant' ? { member: { merchant_id, role: key.role } } : { operator: key.role },
      ),
    )
  const member = { merchant_id: rows.other.merchant_id, role: 'owner' as const }
  users.set('owner elsewhere', await signedIn(gateway, { member }))
  users.set('nobody', await signedIn(gateway, {}))
  for (const key of rolesOf('take.payment').map(keyOf))
    taken.set(key, await takePayment(merchant_id, userOf(key)))
})
afterAll(() => gateway.stop())

const userOf = (key: string) => users.get(key) as DashboardClient

const routes = [
  ...everyRoute.merchant.map(route => ({ part: 'merchant' as const, route })),
  ...everyRoute.operator.map(route => ({ part: 'operator' as const, route })),
]
type Listed = (typeof routes)[number]

const pathOf = ({ part, route }: Listed, of: MerchantRows = rows.merchant, who = '') =>
  filledPath(part, route.path, rows, of, taken.get(who) ?? rows.other.unpaid)
const fieldsOf = ({ part, route }: Listed, of: MerchantRows = rows.merchant) =>
  filledFields(part, route.path, rows, of)

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
      const fields = fieldsOf(listed)
      const expected = refusalsOf(listed)
      const answers: [string, number][] = []
      for (const [who] of expected)
        answers.push([who, (await requests.send(listed.route, path, userOf(who), { fields })).status])
      expect(answers).toEqual(expected)
      const stranger = await requests.send(listed.route, path, undefined, { fields })
      expect([stranger.status, isOwnEnd(stranger.headers.get('location'))]).toEqual([303, true])
      if (before) expect(await digestOfTables(gateway)).toEqual(before)
    })
})

// The own address with what belongs to the other merchant.
const foreignPath = (listed: Listed) =>
  pathOf(listed, rows.other).replaceAll(rows.other.merchant_id, rows.merchant.merchant_id)
const foreignFields = (listed: Listed): Record<string, string> => {
  const fields: Record<string, string> = fieldsOf(listed, rows.other)
  return 'merchant' in fields ? { ...fields, merchant: rows.merchant.merchant_id } : fields
}
const send = (listed: Listed, path: string, key: string, fields: Record<string, string>) =>
  requests.send(listed.route, path, userOf(key), { fields })

describe('a row of another merchant in the address does not exist', () => {
  for (const listed of routes.filter(({ route }) => route.path.includes(':reference')))
    test(nameOf(listed.part, listed.route), async () => {
      const before = await digestOfTables(gateway)
      for (const key of rolesOf(listed.route.permission).map(keyOf)) {
        const answer = await send(listed, foreignPath(listed), key, fieldsOf(listed))
        expect([key, answer.status]).toEqual([key, 404])
      }
      expect(await digestOfTables(gateway)).toEqual(before)
    })
})

test('a form with the ids of another merchant changes nothing', async () => {
  const before = await digestOfTables(gateway)
  for (const listed of routes.filter(({ route }) => route.method === 'post')) {
    const fields = foreignFields(listed)
    if (JSON.stringify(fields) === JSON.stringify(fieldsOf(listed))) continue // a form without an id
    for (const key of rolesOf(listed.route.permission).map(keyOf)) {
      const { status } = await send(listed, pathOf(listed, rows.merchant, key), key, fields)
      expect([401, 403].includes(status) || status >= 500, `${key} got ${status}`).toBe(false)
    }
    expect(await digestOfTables(gateway), nameOf(listed.part, listed.route)).toEqual(before)
  }
})

describe('allowed', () => {
  for (const listed of routes)
    test(nameOf(listed.part, listed.route), async () => {
      for (const key of rolesOf(listed.route.permission).map(keyOf)) {
        const answer = await send(listed, pathOf(listed, rows.merchant, key), key, fieldsOf(listed))
        const who = `${key} got ${answer.status}`
        expect([401, 403, 404].includes(answer.status) || answer.status >= 500, who).toBe(false)
        expect(isOwnEnd(answer.headers.get('location')), `${who}: ${answer.headers.get('location')}`).toBe(
          false,
        )
      }
    })
})
