import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sql } from '../../src/store/db.ts'
import { newInvoice } from '../support/merchant/merchant.ts'
import { type Sdk, startServer } from './programs.ts'
import { client, gateway, resultOf } from './world.ts'

// Makes an application of the README a server.
const wsgiServer = `
from wsgiref.simple_server import make_server
make_server("127.0.0.1", int(os.environ["PORT"]), app).serve_forever()
`

const isEndpoint = (code: string) => /handle_?notification\(/i.test(code)

const env = () => ({
  PATH: process.env.PATH ?? '',
  HOME: process.env.HOME ?? '',
  TOLLGATE_URL: String(client.base_url),
  TOLLGATE_MERCHANT_KEY: String(client.merchant_key),
  TOLLGATE_MERCHANT_SECRET: String(client.merchant_secret),
  TOLLGATE_IPN_SECRET: String(client.ipn_secret),
})

// The examples of the README, in a folder that has nothing but them and the SDK.
export function testReadme({ program, folder, serve }: Sdk) {
  const page = readFileSync(join(folder, 'README.md'), 'utf8')
  const examples = [...page.matchAll(/^```(?:python|php)\n(.*?)^```$/gms)].map(([, code = '']) => code)
  let place: string

  beforeAll(() => {
    place = mkdtempSync(join(tmpdir(), 'tollgate-readme-'))
    cpSync(folder, place, { recursive: true })
  })
  afterAll(() => rmSync(place, { recursive: true, force: true }))

  for (const [at, code] of examples.filter(isEndpoint).entries())
    test(`endpoint ${at + 1} acknowledges a notification of the gateway`, async () => {
      writeFileSync(join(place, 'endpoint'), code.includes('def app(') ? code + wsgiServer : code)
      const server = await startServer(
        program,
        port => serve('endpoint', port),
        port => ({ ...env(), PORT: String(port) }),
        place,
      )
      const direct = { pymt_instrument: '0240000000', extra_wallet_issuer_hint: 'mtn', ipn_url: server.url }
      const invoice_id = newInvoice()
      const { tx_reference } = await resultOf('initiate', { invoice_id, total: '25.00', ...direct })
      const answers = sql`select last_status from deliveries where tx_reference = ${tx_reference}`
      await expect.poll(() => gateway.db.rows(answers)).toEqual([{ last_status: 200 }])
      const { status } = await fetch(server.url, { method: 'POST', body: '{}' })
      expect(status).toBe(401)
      await server.stop()
    })

  // After the endpoints: the feed has their payments.
  test('each example prints what it promises', async () => {
    const prints = [
      /^Redirect the customer to \S+\/checkout\/\w{42}\nThe payment is awaiting_payment\n$/,
      /^((status|refund\.\w+) \S+ (paid|failed)\n)+Continue after \d+\n$/,
      /^failed\n$/,
    ]
    const programs = examples.filter(code => !isEndpoint(code))
    expect(programs).toHaveLength(prints.length)
    for (const [at, code] of programs.entries()) {
      writeFileSync(join(place, 'example'), code)
      const { stdout } = await promisify(execFile)(program, ['example'], { cwd: place, env: env() })
      expect(stdout).toMatch(prints[at] ?? '')
    }
  })
}
