import { writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { sql } from '../../src/store/db.ts'
import { openBrowser } from '../support/browser/browser.ts'
import { seedRows, takePayment } from '../support/dashboard/seedRows.ts'
import { seedOperations, seedTrade } from '../support/dashboard/seedTrade.ts'
import { signedIn } from '../support/dashboard/signedIn.ts'
import { testGateway } from '../support/gateway/gateway.ts'
import { smallPng } from './smallPng.ts'

// Makes the pictures of docs/dashboard.md, one of each area, and then has to be looked at: it checks only that they are small.

const maxBytes = 80_000
const hourMs = 3_600_000
const [width, phoneWidth] = [1280, 390]

// `as`: without one nobody is signed in.
type Picture = { name: string; as?: 'owner' | 'admin'; path: string; height: number; isPhone?: boolean }

test('the pictures of the dashboard', async () => {
  let aheadMs = 0
  const clock = () => new Date(Date.now() + aheadMs)
  const gateway = await testGateway({ TOLLGATE_REDACT_DAYS: '365' }, { clock, sandboxPace: 0.05 })
  const browser = await openBrowser()
  const { merchant, other, account } = await seedRows(gateway)
  const { merchant_id } = merchant
  const { db } = gateway
  const owner = await signedIn(gateway, { member: { merchant_id, role: 'owner' }, name: 'Akua Owusu' })
  const admin = await signedIn(gateway, { operator: 'admin', name: 'Esi Adjei' })

  // In the afternoon there is a day to be seen.
  const afternoon = new Date().setUTCHours(14, 58, 0, 0)
  aheadMs = afternoon - Date.now()
  await db.rows(sql`update merchants set name = 'Akua’s Kitchen' where merchant_id = ${merchant_id}`)
  await db.rows(sql`update merchants set name = 'Kente House' where merchant_id = ${other.merchant_id}`)
  await seedTrade(gateway, merchant_id, clock())
  await seedOperations(gateway, clock())
  await db.rows(sql`
    delete from users where email like '%@example.com' and user_id not in (${owner.user_id}, ${admin.user_id})
      and not exists (select 1 from memberships m where m.user_id = users.user_id and m.merchant_id = ${merchant_id})`)
  await db.rows(sql`
    update users set email = lower(split_part(name, ' ', 1)) || '@kitchen.example', signed_in_at = ${clock()}`)
  await db.rows(sql`
    update user_sessions set created_at = ${clock()}, seen_at = ${clock()}, confirmed_at = ${clock()},
      ends_at = ${new Date(afternoon + 8 * hourMs)}`)

  const taken = await takePayment(merchant_id, owner)

  const shop = `/dashboard/m/${merchant_id}/test`
  const operator = '/dashboard/operator'
  const pictures: Picture[] = [
    { name: 'overview', as: 'owner', path: shop, height: 980 },
    { name: 'payments', as: 'owner', path: `${shop}/payments`, height: 720 },
    { name: 'payment', as: 'owner', path: `${shop}/payments/${merchant.paid}`, height: 900 },
    { name: 'take', as: 'owner', path: `${shop}/take/${taken}`, height: 844, isPhone: true },
    { name: 'money', as: 'owner', path: `${shop}/money/closing`, height: 820 },
    { name: 'developers', as: 'owner', path: `${shop}/developers`, height: 860 },
    { name: 'settings', as: 'owner', path: `${shop}/settings/branding`, height: 860 },
    { name: 'team', as: 'owner', path: `${shop}/settings/team`, height: 620 },
    { name: 'outlets', as: 'owner', path: `${shop}/settings/outlets`, height: 640 },
    { name: 'sign-in', path: '/dashboard/sign-in', height: 520 },
    { name: 'account', as: 'owner', path: '/dashboard/account', height: 640 },
    { name: 'users', as: 'admin', path: `${operator}/users`, height: 470 },
    { name: 'refunds', as: 'admin', path: `${operator}/refunds`, height: 490 },
    { name: 'audit', as: 'admin', path: `${operator}/audit`, height: 620 },
    { name: 'operator', as: 'admin', path: `${operator}?mode=test`, height: 1320 },
    { name: 'merchants', as: 'admin', path: `${operator}/merchants/${merchant_id}`, height: 860 },
    { name: 'accounts', as: 'admin', path: `${operator}/accounts/${account}`, height: 700 },
    {
      name: 'tasks',
      as: 'admin',
      path: `${operator}/tasks/${merchant_id}/${merchant.unpaid}/unresolved`,
      height: 640,
    },
    { name: 'messages', as: 'admin', path: `${operator}/messages`, height: 460 },
    { name: 'privacy', as: 'admin', path: `${operator}/people`, height: 420 },
  ]
  const tooLarge: string[] = []
  for (const { name, as, path, height, isPhone } of pictures) {
    const { page, close } = await browser.newCustomer({ width: isPhone ? phoneWidth : width, height })
    const [cookie = '', value = ''] = as ? { owner, admin }[as].cookie.split('=') : []
    if (cookie) await page.context().addCookies([{ name: cookie, value, url: gateway.url }])
    await page.goto(gateway.url + path)
    await page.evaluate('document.activeElement?.blur()')
    const picture = smallPng(await page.screenshot({ animations: 'disabled', scale: 'css' }))
    writeFileSync(`docs/pictures/dashboard-${name}.png`, picture)
    if (picture.length > maxBytes) tooLarge.push(`${name}: ${picture.length}`)
    await close()
  }
  await browser.close()
  await gateway.stop()
  expect(tooLarge).toEqual([])
})
