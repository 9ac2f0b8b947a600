import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sql } from '../../../src/store/db.ts'
import { answering, listen } from '../../net/support.ts'
import { plainJpeg, plainPng } from '../../support/merchant/pictures.ts'
import { openShop, type TestShop } from '../../support/payments/shop.ts'
import { temporaryFolder, tollgate, tollgateJson } from '../tollgate.ts'

let shop: TestShop
let id: string
const folder = temporaryFolder()
beforeAll(async () => {
  shop = await openShop()
  id = (await shop.addMerchant()).merchant_id
})
afterAll(() => shop.stop())

function fileWith(bytes: Buffer | string, name = 'logo') {
  writeFileSync(join(folder, name), bytes)
  return join(folder, name)
}
const logos = () => shop.db.rows(sql`select merchant_id, type, width, height from merchant_logos`)
const answer = (status: string, body: Buffer | string, ...headers: string[]) =>
  Buffer.concat([
    Buffer.from(
      `HTTP/1.1 ${status}\r\ncontent-length: ${body.length}\r\n${headers.map(one => `${one}\r\n`).join('')}\r\n`,
    ),
    Buffer.from(body),
  ])

test('an invalid picture is refused with the reason, and nothing is stored', async () => {
  for (const [words, ...asked] of [
    ['Give --file, --url or --remove.'],
    ['cannot be used with', '--file', 'x', '--remove'],
    ['cannot be used with', '--file', 'x', '--url', 'https://shop.example'],
    ['There is no file', '--file', join(folder, 'nowhere.png')],
    ['is not a file', '--file', folder],
    ['at most 256 kB are read', '--file', fileWith(Buffer.alloc(300_000), 'large')],
    [
      'This logo cannot be shown: it is an SVG: save it as PNG or JPEG.',
      '--file',
      fileWith('<svg/>', 'svg.png'),
    ],
    ['This logo cannot be shown: it is 16x16', '--file', fileWith(plainPng(16), 'small')],
    ['The logo could not be fetched: this is not a web address.', '--url', 'logo.png'],
    ['only http and https addresses are served', '--url', 'file:///etc/passwd'],
  ] as const) {
    const { code, stderr } = await tollgate(shop.env, 'merchant', 'logo', id, ...asked)
    expect(stderr).toContain(words)
    expect(code).toBeGreaterThan(0)
  }
  expect(await logos()).toEqual([])
})

test('an unknown merchant is refused', async () => {
  const { code, error } = await tollgateJson(shop.env, 'merchant', 'logo', 'nobody0000', '--remove')
  expect([code, error.code]).toEqual([1, 'not_found'])
})

test('nothing is fetched from private addresses', async () => {
  const inside = await listen(answering(answer('200 OK', plainPng())))
  for (const url of [
    inside.url,
    'http://10.0.0.1/logo.png',
    'http://169.254.169.254/logo.png',
    'https://[::1]/x',
  ]) {
    const { code, stderr } = await tollgate(shop.env, 'merchant', 'logo', id, '--url', url)
    expect([code, stderr]).toEqual([1, expect.stringContaining('The logo could not be fetched: ')])
  }
  expect(inside.connections).toBe(0)
  expect(await logos()).toEqual([])
})

test('a file becomes the logo, is shown with the merchant, and can be removed', async () => {
  const none = await tollgate(shop.env, 'merchant', 'show', id)
  expect(none.stdout).toMatch(/logo +none/)
  const { data } = await tollgateJson(shop.env, 'merchant', 'logo', id, '--file', fileWith(plainPng(128, 64)))
  expect(data).toMatchObject({ merchant_id: id, logo: { type: 'png', width: 128, height: 64 } })
  expect(data.logo.path).toMatch(new RegExp(`^/public/logos/${id}/[0-9a-f]{32}\\.png$`))
  const shown = await tollgate(shop.env, 'merchant', 'show', id)
  expect(shown.stdout).toMatch(/logo +png, 128x64, \d+ bytes/)
  expect((await tollgateJson(shop.env, 'merchant', 'show', id)).data.logo).toMatchObject({
    type: 'png',
    width: 128,
  })
  const gone = await tollgate(shop.env, 'merchant', 'logo', id, '--remove')
  expect(gone.stdout).toContain('no longer shows a logo')
  expect((await tollgate(shop.env, 'merchant', 'logo', id, '--remove')).stdout).toContain('had no logo')
  expect(await logos()).toEqual([])
})

const open = () => ({ ...shop.env, TOLLGATE_EGRESS_LOOPBACK: 'on' })

test('an address is fetched once, and the picture stored', async () => {
  const big = Buffer.concat([plainPng(256), Buffer.alloc(100_000)]) // more than a notification's answer may have
  const web = await listen(answering(answer('200 OK', big)))
  const { code, stdout } = await tollgate(open(), 'merchant', 'logo', id, '--url', web.url)
  expect([code, stdout]).toEqual([0, expect.stringContaining('png, 256x256')])
  expect(await logos()).toEqual([{ merchant_id: id, type: 'png', width: 256, height: 256 }])
  expect(web.connections).toBe(1)
})

for (const [what, answered, words] of [
  [
    'an address that leads on',
    answer('302 Found', '', 'location: https://shop.example/logo.png'),
    'answered 302: give the address of the picture itself',
  ],
  ['an address with nothing behind it', answer('404 Not Found', 'no'), 'answered 404'],
  ['a page', answer('200 OK', '<!doctype html><p>Logo'), 'not a known picture format'],
  ['a picture that breaks off', answer('200 OK', plainJpeg().subarray(0, 40)), 'damaged'],
  ['a picture that is too large', answer('200 OK', Buffer.alloc(300_000)), 'more than 256 kB'],
] as const)
  test(`${what} changes nothing`, async () => {
    const before = await logos()
    const web = await listen(answering(answered))
    const { code, stderr } = await tollgate(open(), 'merchant', 'logo', id, '--url', web.url)
    expect([code, stderr]).toEqual([1, expect.stringContaining(words)])
    expect(await logos()).toEqual(before)
  })
