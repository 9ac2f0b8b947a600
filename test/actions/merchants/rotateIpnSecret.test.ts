import { afterAll, beforeAll, expect, test } from 'vitest'
import { rotateIpnSecret } from '../../../src/actions/merchants/credentials.ts'
import { givenMasterKeys } from '../../../src/start/masterKeys.ts'
import { ipnSecretPurpose } from '../../../src/store/merchants/callers.ts'
import { isLive, listIpnSecrets } from '../../../src/store/merchants/credentials.ts'
import { findMerchant } from '../../../src/store/merchants/merchants.ts'
import { type MasterKeys, openSecret, unwrapKey } from '../../../src/store/merchants/vault.ts'
import { after, hours, minutes } from '../../support/payments/rows.ts'
import { openShop, type TestShop } from '../../support/payments/shop.ts'

let shop: TestShop
let masterKeys: MasterKeys
const start = new Date()

beforeAll(async () => {
  shop = await openShop()
  shop.setNow(start)
  masterKeys = givenMasterKeys([Buffer.from(shop.env.TOLLGATE_MASTER_KEY, 'hex')])
})
afterAll(() => shop.stop())

const at = (count: number) => after(minutes(count), start)
const rotate = (merchant_id: string, overlapMs: number, when: Date) =>
  rotateIpnSecret(shop.db, masterKeys, merchant_id, 'test', overlapMs, when)

// The secrets that sign at a moment, in clear.
async function live(merchant_id: string, when: Date, mode = 'test') {
  const merchant = await findMerchant(shop.db, merchant_id)
  const rows = await listIpnSecrets(shop.db, merchant_id)
  return rows
    .filter(row => row.mode === mode && isLive(row, when))
    .map(row =>
      merchant
        ? openSecret(
            unwrapKey(masterKeys, merchant_id, merchant),
            ipnSecretPurpose(merchant_id, row.mode, row.secret_id),
            row.sealed_secret,
          )
        : '',
    )
}

test('an unknown merchant id', async () => {
  expect(await rotate('nobody0000', hours(1), start)).toBeUndefined()
})

test('the old one signs until the overlap ends, and the other mode is not affected', async () => {
  const { merchant_id, test: keys, live: others } = await shop.addMerchant()
  const then = at(1)
  const rotated = await rotate(merchant_id, hours(1), then)
  expect(rotated).toEqual({
    merchant_id,
    mode: 'test',
    ipn_secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    old_secret_valid_until: after(hours(1), then).toISOString(),
  })
  expect(await live(merchant_id, then)).toEqual([keys.ipn_secret, rotated?.ipn_secret])
  expect(await live(merchant_id, after(hours(1), then))).toEqual([rotated?.ipn_secret])
  expect(await live(merchant_id, then, 'live')).toEqual([others.ipn_secret])
})

test('with no overlap it ends at once', async () => {
  const { merchant_id } = await shop.addMerchant()
  const then = at(1)
  const rotated = await rotate(merchant_id, 0, then)
  expect(await live(merchant_id, then)).toEqual([rotated?.ipn_secret])
})

test('two sign at most: a third ends at once, and an end that was sooner stays', async () => {
  const { merchant_id } = await shop.addMerchant()
  const second = await rotate(merchant_id, hours(24), at(1))
  const third = await rotate(merchant_id, hours(24), at(2))
  expect(await live(merchant_id, at(2))).toEqual([second?.ipn_secret, third?.ipn_secret])
  const fourth = await rotate(merchant_id, hours(1), at(3))
  expect(await live(merchant_id, at(3))).toEqual([third?.ipn_secret, fourth?.ipn_secret])
  expect(await live(merchant_id, after(hours(1), at(3)))).toEqual([fourth?.ipn_secret])
  const ends = (await listIpnSecrets(shop.db, merchant_id)).flatMap(row =>
    row.mode === 'test' ? [row.expires_at] : [],
  )
  expect(ends).toEqual([at(2), at(3), after(hours(1), at(3)), null])
})
