import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, onTestFinished, test, vi } from 'vitest'
import { build } from '../../../build.js'
import { createTollgate } from '../../../sdk/node/src/index.ts'
import { examListener } from '../../../sdk/node/src/node.ts'
import { demoId, onboard } from '../../../src/actions/merchants/onboard.ts'
import { readConfig } from '../../../src/config.ts'
import { openDemoShop } from '../../../src/start/shop.ts'
import { type Credentials, testGateway } from '../../support/gateway/gateway.ts'
import { examine, findingsIn } from './examine.ts'
import { freePort, serve } from './handler.ts'
import { developerEnv } from './terminal.ts'

// The demo shop is a correct integration: the exam gives it full marks, as a program and as mounted in the gateway.

vi.setConfig({ testTimeout: 180_000 })

const fullMarks = [0, [], '18 of 18 checks passed.']
const marksIn = ({ code, out }: { code: number; out: string }) => [
  code,
  findingsIn(out),
  out.split('\n').at(-1),
]

test('examples/shop as a program, in a folder of its own', async () => {
  await build()
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-exam-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  cpSync('examples/shop', folder, { recursive: true })
  const sdk = join(folder, 'node_modules/@tollgate/merchant')
  mkdirSync(sdk, { recursive: true })
  cpSync('sdk/node/dist', join(sdk, 'dist'), { recursive: true })
  cpSync('sdk/node/package.json', join(sdk, 'package.json'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const [port, examPort] = [await freePort(), await freePort()]
  const env = { ...developerEnv(), PORT: String(port), DATA_DIR: join(folder, 'data') }
  const start = ['--', process.execPath, join(folder, 'server.js')]
  expect(marksIn(await examine(`http://127.0.0.1:${port}`, examPort, env, ...start))).toEqual(fullMarks)
})

// The mounted shop with the gateway of the exam instead of its own. Its log has a line for each delivery.
async function openMountedShop(examUrl: string) {
  const gateway = await testGateway()
  onTestFinished(() => gateway.stop())
  const { db, masterKeys, url } = gateway
  const demo = await onboard(db, masterKeys, 'Demo Shop', ['test'], new Date(), demoId)
  const keys = demo.test as Credentials
  const lines: string[] = []
  const log = pino({ level: 'debug' }, { write: line => void lines.push(line) })
  const config = readConfig({ DATABASE_URL: gateway.databaseUrl })
  const shop = openDemoShop(config, {
    db,
    masterKeys,
    clock: () => new Date(),
    url: examUrl,
    baseUrl: url,
    isSent: () => false,
    log,
  })
  const opened = await shop?.open()
  if (!shop || !opened) throw new Error('the demo shop is closed')
  const [article] = shop.articles
  const { merchant_key: merchantKey, secret_key: merchantSecret, ipn_secret: ipnSecret } = keys
  const tollgate = createTollgate({ baseUrl: examUrl, merchantKey, merchantSecret, ipnSecret })
  const exam = examListener(tollgate, {
    async createOrder({ invoiceId, total }) {
      if (article) await opened.buy({ ...article, total }, { invoiceId, extra: {} })
    },
    async readOrder(invoiceId) {
      const isDelivery = (line: string) =>
        line.includes('delivers an order') && line.includes(`"${invoiceId}"`)
      return { status: await stateOf(invoiceId), deliveries: lines.filter(isDelivery).length }
    },
  })
  const stateOf = async (invoiceId: string) =>
    String((await opened.orderAfterReturn(invoiceId).catch(() => undefined))?.state)
  const address = await serve(async (incoming, outgoing) => {
    if (incoming.url === '/exam') return exam(incoming, outgoing)
    const body = Buffer.concat((await incoming.toArray()) as Buffer[])
    const answer = await opened.receive(body, incoming.headers)
    return outgoing.writeHead(answer.status).end(await answer.text())
  })
  return { address, keys }
}

test('the shop that the gateway shows at its first address', async () => {
  const port = await freePort()
  const { address, keys } = await openMountedShop(`http://127.0.0.1:${port}`)
  expect(marksIn(await examine(address, port, developerEnv('http://127.0.0.1:2', keys)))).toEqual(fullMarks)
})
