import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GatewayProcess, spawnGateway } from '../support/gateway/gateway.ts'
import { send } from '../support/merchant/merchant.ts'

// The packed program with what `npm ci --omit=dev` installs, outside of this folder, so that it finds no development
// dependency. The packages are copied, because a test has no network.
const folder = mkdtempSync(join(tmpdir(), 'tollgate-installed-'))
const program = join(folder, 'package')
let gateway: GatewayProcess | undefined

const npm = (...args: string[]) =>
  execFileSync('npm', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })

beforeAll(async () => {
  npm('run', 'build')
  npm('pack', '--pack-destination', folder)
  const [tarball = ''] = readdirSync(folder)
  execFileSync('tar', ['xzf', join(folder, tarball), '-C', folder])
  for (const path of npm('ls', '--omit=dev', '--all', '--parseable').split('\n')) {
    const place = relative(process.cwd(), path)
    if (!place.startsWith('node_modules/') || !existsSync(path)) continue
    mkdirSync(dirname(join(program, place)), { recursive: true })
    cpSync(path, join(program, place), { recursive: true, verbatimSymlinks: true })
  }
  gateway = await spawnGateway({ TOLLGATE_DATA_DIR: join(folder, 'data') }, program)
}, 300_000)
afterAll(async () => {
  await gateway?.kill('SIGTERM')
  rmSync(folder, { recursive: true, force: true })
})

test('the installation has no development dependency', () => {
  const installed = readdirSync(join(program, 'node_modules'))
  expect(installed).toContain('hono')
  for (const name of ['vitest', 'typescript', 'vite', 'rolldown']) expect(installed).not.toContain(name)
})

for (const [path, words] of [
  ['/', 'action="/shop/buy"'],
  ['/docs', 'Tollgate'],
  ['/docs/operations', 'Operations'],
  ['/docs/api', 'POST'],
  ['/openapi.json', '"openapi":'],
  ['/readyz', 'ready'],
] as const)
  test(`it answers ${path}`, async () => {
    const { http, text } = await send(`${gateway?.url}${path}`, { headers: { accept: 'text/html, */*' } })
    expect([http, text]).toEqual([200, expect.stringContaining(words)])
  })
