import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { gzipSync } from 'node:zlib'
import { operatorBase, merchantBase } from '../../../src/web/dashboard/route.ts'
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

// What holds for every form and every page, whatever its area.

const maxPageBytes = 30 * 1024 // compressed

let gateway: TestGateway
let seeded: Seeded
let requests: Awaited<ReturnType<typeof requestsTo>>
let owner: DashboardClient
let admin: DashboardClient
let other: DashboardClient
beforeAll(async () => {
  gateway = await testGateway()
  seeded = await seedPayments(gateway)
  requests = await requestsTo(gateway)
  const { merchant_id } = seeded.merchant
  owner = await signedIn(gateway, { member: { merchant_id, role: 'owner' }, lang: 'fr' })
  other = await signedIn(gateway, { member: { merchant_id, role: 'owner' } })
  admin = await signedIn(gateway, { operator: 'admin', lang: 'fr' })
})
afterAll(() => gateway.stop())

const routes = (['merchant', 'operator', 'own', 'open'] as const).flatMap(part =>
  everyRoute[part].map(route => ({ part, route })),
)
type Listed = (typeof routes)[number]

const bases = {
  merchant: () => merchantBase(seeded.merchant.merchant_id, 'test'),
  operator: () => operatorBase,
  own: () => '/dashboard',
  open: () => '/dashboard',
}
const pathOf = ({ part, route }: Listed) => bases[part]() + filledPath(route.path, seeded)
const userFor = ({ part }: Listed) => (part === 'operator' ? admin : owner)

describe('a form without its token, of another site, or with the token of another session changes nothing', () => {
  for (const listed of routes.filter(({ route }) => route.method === 'post'))
    test(nameOf(listed.part, listed.route), async () => {
      const before = await digestOfTables(gateway)
      const client = userFor(listed)
      const attacks = [
        { token: '' },
        { token: 'x'.repeat(55) },
        { origin: 'https://evil.example' },
        { token: requests.tokenOf(other) },
      ]
      for (const sent of attacks) {
        const answer = await requests.send(listed.route, pathOf(listed), client, sent)
        expect([sent, answer.status]).toEqual([sent, 403])
      }
      expect(await digestOfTables(gateway)).toEqual(before)
    })
})

describe('every page has strict headers, no inline code, the language of its user, and little weight', () => {
  for (const listed of routes.filter(({ route }) => route.method === 'get'))
    test(nameOf(listed.part, listed.route), async () => {
      const { route } = listed
      const answer = await requests.send(
        route,
        pathOf(listed),
        listed.part === 'open' ? undefined : userFor(listed),
      )
      const { headers, status } = answer
      expect(status).toBeLessThan(500)
      const text = await answer.text()
      const isRedirect = status >= 300 && status < 400
      if (isRedirect) return
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      if (!headers.get('content-type')?.startsWith('text/html')) return
      const policy = headers.get('content-security-policy') ?? ''
      expect(policy).toContain("default-src 'none'")
      expect(policy).toMatch(/frame-ancestors '(none|self)'/)
      expect(policy).toMatch(/form-action '(self|none)'/)
      expect(policy).not.toMatch(/unsafe|https?:|\*/)
      expect(headers.get('referrer-policy')).toBe('no-referrer')
      expect(headers.get('cache-control')).toContain('no-store')
      expect(text).not.toMatch(/<style|\sstyle=|\son\w+=|javascript:/i)
      expect(text.match(/<script(?![^>]*\ssrc="\/)/g)).toBeNull()
      expect(text).not.toMatch(/(src|href)="(https?:)?\/\/(?!127\.0\.0\.1)/)
      if (listed.part !== 'open') expect(text).toContain('<html lang="fr"')
      expect(gzipSync(text).length).toBeLessThan(maxPageBytes)
    })
})
