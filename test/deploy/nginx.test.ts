import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestGateway, testGateway, type TestMerchant } from '../support/gateway/gateway.ts'
import { signedRequest } from '../support/merchant/merchant.ts'

// The shipped file of nginx, with a node that works and one that reads each request and cuts the connection, as a killed
// node does.
const lacksNginx = spawnSync('nginx', ['-v']).error !== undefined
if (lacksNginx) console.warn('SKIPPED: nginx is not on this machine, so its file in deploy/ was not run.')

const folder = mkdtempSync(join(tmpdir(), 'tollgate-nginx-'))
const cutPaths: string[] = []
const dying = createServer(socket => {
  socket.on('error', () => {})
  socket.once('data', data => {
    cutPaths.push(data.toString('latin1').split(' ')[1] ?? '')
    socket.destroy()
  })
})
let gateway: TestGateway
let merchant: TestMerchant
let nginx: ReturnType<typeof spawn>
let port: number

const freePort = async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port: free } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return free
}

beforeAll(async () => {
  if (lacksNginx) return
  gateway = await testGateway({ TOLLGATE_TRUST_PROXY: '1' })
  merchant = await gateway.addMerchant()
  dying.listen(0, '127.0.0.1')
  await once(dying, 'listening')
  port = await freePort()
  const openssl = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=pay.example']
  const files = ['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'fullchain.pem')]
  execFileSync('openssl', [...openssl, ...files], { stdio: 'ignore' })
  const site = readFileSync('deploy/nginx/tollgate.conf', 'utf8')
    .replace('10.0.0.11:8080', `127.0.0.1:${(dying.address() as { port: number }).port}`)
    .replace('10.0.0.12:8080', gateway.url.slice('http://'.length))
    .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
    .replace('listen 80;', `listen 127.0.0.1:${await freePort()};`)
    .replaceAll('/etc/ssl/tollgate', folder)
    .replaceAll('/var/log/nginx', folder)
  const main = join(folder, 'nginx.conf')
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map(name => `${name}_temp_path ${folder}/${name};`)
    .join('\n')
  const user = process.getuid?.() === 0 ? 'user root;\n' : ''
  writeFileSync(join(folder, 'site.conf'), site)
  writeFileSync(
    main,
    `${user}daemon off;\npid ${folder}/pid;\nevents {}\nhttp {\n${paths}\ninclude ${folder}/site.conf;\n}\n`,
  )
  nginx = spawn('nginx', ['-c', main, '-e', join(folder, 'start.log')], { stdio: 'inherit' })
  while (!(await isServing())) await sleep(50)
})
afterAll(async () => {
  if (lacksNginx) return
  nginx.kill('SIGTERM')
  await once(nginx, 'exit')
  dying.close()
  await gateway.stop()
  rmSync(folder, { recursive: true, force: true })
})

const isServing = () =>
  ask('GET', '/healthz').then(
    ({ http }) => http === 200,
    () => false,
  )

const ask = (method: string, path: string, body?: string) =>
  new Promise<{ http: number; text: string }>((resolve, reject) => {
    const headers = { host: 'pay.example', 'content-type': 'application/json' }
    const sent = request(
      { host: '127.0.0.1', port, path, method, headers, rejectUnauthorized: false },
      answer => {
        let text = ''
        answer
          .on('data', chunk => (text += chunk))
          .on('end', () => resolve({ http: answer.statusCode ?? 0, text }))
      },
    )
    sent.on('error', reject).end(body)
  })

// A node that has failed gets no requests for two seconds.
async function untilDyingIsAsked(method: string, path: string, body: () => string | undefined) {
  const before = cutPaths.length
  const answers: number[] = []
  while (cutPaths.length === before) {
    answers.push((await ask(method, path, body())).http)
    if (answers.length % 4 === 0) await sleep(500)
  }
  return answers
}

const paymentRequest = () => JSON.stringify(signedRequest(merchant.test))

test.skipIf(lacksNginx)('a payment request survives the death of a node, and is stored once', async () => {
  const answers = await untilDyingIsAsked('POST', '/v1/mobile_agents_v2', paymentRequest)
  expect(cutPaths.at(-1)).toBe('/v1/mobile_agents_v2')
  expect(new Set(answers)).toEqual(new Set([200]))
})

test.skipIf(lacksNginx)('a code of a step and a form of the dashboard are sent once', async () => {
  for (const path of ['/checkout/0123456789abcdef/step', '/dashboard/sign-in']) {
    const answers = await untilDyingIsAsked('POST', path, () => '{}')
    expect(cutPaths.at(-1)).toBe(path)
    expect(answers.at(-1)).toBe(502)
    expect(answers.slice(0, -1)).not.toContain(502)
  }
})

test.skipIf(lacksNginx)('a page survives it, and the log has no token, query or key', async () => {
  const token = 'Zm9vYmFyYmF6cXV4MTIzNA'
  await untilDyingIsAsked('GET', `/checkout/${token}/state?secret=1`, () => undefined)
  await ask('GET', `/v1/gateway/json_status_chk?merchant_key=${merchant.test.merchant_key}&invoice_id=X`)
  const log = readFileSync(join(folder, 'tollgate.log'), 'utf8')
  expect(log).toContain('GET /checkout/***/state ')
  expect(log).toContain('GET /v1/gateway/json_status_chk ')
  for (const secret of [token, 'secret=1', merchant.test.merchant_key]) expect(log).not.toContain(secret)
})
