import { type AddressInfo, createServer } from 'node:net'
import { once } from 'node:events'
import { hash } from '@node-rs/argon2'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { installationSecrets } from '../../src/actions/installation/secrets.ts'
import { userLinkAddress } from '../../src/core/access/userLink.ts'
import { newUserId } from '../../src/runtime/ids.ts'
import { addUser, findUserByEmail, saveMembership } from '../../src/store/access/users.ts'
import { sql } from '../../src/store/db.ts'
import { axeFaults } from '../support/browser/axe.ts'
import { type Customer, openBrowser, type TestBrowser } from '../support/browser/browser.ts'
import { overflow } from '../support/browser/measure.ts'
import { type TestGateway, testGateway, type TestMerchant } from '../support/gateway/gateway.ts'

const password = 'four words that differ'
const email = 'ama.owner@example.com'
let browser: TestBrowser
let gateway: TestGateway
let merchant: TestMerchant
let site: string
beforeAll(async () => {
  const port = await freePort()
  site = `http://localhost:${port}` // browsers have passkeys for names, not for addresses
  gateway = await testGateway({ PORT: String(port), TOLLGATE_BASE_URL: site })
  merchant = await gateway.addMerchant()
  const { merchant_id } = merchant
  const user_id = newUserId()
  const created_at = new Date()
  await addUser(gateway.db, {
    user_id,
    email,
    name: 'Ama Owusu',
    lang: 'en',
    password_hash: await hash(password, { memoryCost: 19_456, timeCost: 2, parallelism: 1 }),
    operator_role: null,
    sealed_totp: null,
    totp_step: null,
    active: true,
    created_at,
    signed_in_at: null,
  })
  await saveMembership(gateway.db, { merchant_id, user_id, role: 'owner', outlets: null, created_at })
  browser = await openBrowser()
})
afterAll(async () => {
  await browser?.close()
  await gateway?.stop()
})

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function checkPage({ page, shoot }: Customer, name: string) {
  expect(await overflow(page), name).toBe(false)
  expect(await axeFaults(page), name).toEqual([])
  await shoot(`dashboard-people-${name}`)
}

async function signIn({ page }: Customer) {
  await page.goto(`${site}/dashboard/account`)
  await page.fill('#email', email)
  await page.fill('#password', password)
  await page.click('form[action="/dashboard/sign-in"] button')
  await page.waitForURL('**/dashboard/account')
}

test('without scripts on a phone an owner invites a cashier, who joins by the link of the mail', async () => {
  const { merchant_id } = merchant
  await gateway.db.rows(
    sql`insert into outlets (merchant_id, code, name, created_at) values (${merchant_id}, 'osu', 'Osu branch', now())`,
  )
  const owner = await browser.newCustomer({ scripts: false, width: 390, height: 844 })
  const { page } = owner
  await signIn(owner)
  expect(await page.isVisible('form[data-passkey]')).toBe(false) // simply not offered
  const team = `${site}/dashboard/m/${merchant_id}/live/settings/team`
  await page.goto(team)
  await page.click('a[href$="/team/invite"]')
  await page.fill('#email', 'kojo@example.com')
  await page.check('input[value="cashier"]')
  await page.check('input[name="outlet_osu"]')
  await checkPage(owner, 'invite')
  await page.click('main form button[type="submit"]')
  await page.waitForURL('**/team?done=invited')
  await checkPage(owner, 'team')

  const [link] = await gateway.db.rows<{ link_id: string }>(sql`select link_id from user_links`)
  const { formKey } = await installationSecrets(gateway.db, gateway.masterKeys, new Date())
  const name = { link_id: link?.link_id ?? '', purpose: 'invitation' } as const
  await page.goto(userLinkAddress(formKey, site, name))
  await checkPage(owner, 'join')
  await page.fill('#name', 'Kojo Mensah')
  await page.fill('#password', password)
  await page.selectOption('#lang', 'fr')
  await page.click('main form button[type="submit"]')
  await page.waitForURL('**/live/take')
  const kojo = await findUserByEmail(gateway.db, 'kojo@example.com')
  const [member] = await gateway.db.rows(
    sql`select role, outlets from memberships where merchant_id = ${merchant_id} and user_id = ${kojo?.user_id}`,
  )
  expect([kojo?.lang, member]).toEqual(['fr', { role: 'cashier', outlets: ['osu'] }])
  await page.goto(`${site}/dashboard/account`)
  await checkPage(owner, 'account-phone')
  await owner.close()
})
