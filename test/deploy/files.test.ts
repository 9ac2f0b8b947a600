import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { caddyfile, caddyProgram, lacksCaddy } from '../support/deploy/caddy.ts'
import { asOperator } from '../support/gateway/operatorAuth.ts'
import { type TestGateway, testGateway } from '../support/gateway/gateway.ts'
import { send } from '../support/merchant/merchant.ts'

vi.setConfig({ testTimeout: 120_000 }) // promtool evaluates hours of series

// Each file of deploy/ is checked by its own program. A program that this machine lacks is named and skipped.
const folder = mkdtempSync(join(tmpdir(), 'tollgate-deploy-'))
let gateway: TestGateway
beforeAll(async () => {
  gateway = await testGateway()
})
afterAll(async () => {
  await gateway.stop()
  rmSync(folder, { recursive: true, force: true })
})

function withoutProgram(program: string, ...args: string[]): boolean {
  const lacks = spawnSync(program, args).error !== undefined
  if (lacks)
    console.warn(`SKIPPED: ${program} is not on this machine, so its files in deploy/ were not checked.`)
  return lacks
}

const run = (program: string, args: readonly string[], cwd = folder) => {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8' })
  return { status, text: `${stdout}${stderr}` }
}

// Writes a copy whose certificates and logs are in the folder of this test.
function adapted(file: string): string {
  const copy = join(folder, file.replaceAll('/', '-'))
  const text = readFileSync(file, 'utf8')
    .replaceAll('/etc/ssl/tollgate', folder)
    .replaceAll('/var/log/nginx', folder)
  writeFileSync(copy, text)
  return copy
}

const certificate = () => {
  const [key, chain] = [join(folder, 'key.pem'), join(folder, 'fullchain.pem')]
  const subject = ['-subj', '/CN=pay.example', '-days', '2', '-nodes', '-newkey', 'rsa:2048']
  execFileSync('openssl', ['req', '-x509', ...subject, '-keyout', key, '-out', chain], { stdio: 'ignore' })
  writeFileSync(join(folder, 'pay.pem'), readFileSync(chain, 'utf8') + readFileSync(key, 'utf8'))
}

test.skipIf(withoutProgram('promtool', '--version'))('the rules of Prometheus, each with its test', () => {
  const rules = 'deploy/prometheus'
  expect(run('promtool', ['check', 'rules', 'tollgate.rules.yml'], rules)).toMatchObject({ status: 0 })
  expect(run('promtool', ['test', 'rules', 'tollgate.rules.test.yml'], rules)).toMatchObject({ status: 0 })
})

test('every alert has a test that makes it fire and one that does not', () => {
  const alerts = [...readFileSync('deploy/prometheus/tollgate.rules.yml', 'utf8').matchAll(/- alert: (\w+)/g)]
  const tested = readFileSync('deploy/prometheus/tollgate.rules.test.yml', 'utf8')
  const names = alerts.map(([, name]) => name as string)
  expect(names.length).toBeGreaterThan(10)
  expect(names.filter(name => !tested.includes(`'${name} fires'`))).toEqual([])
  expect(names.filter(name => !tested.includes(`'${name} does not fire'`))).toEqual([])
})

test.skipIf(withoutProgram('openssl', 'version') || withoutProgram('nginx', '-v'))('nginx', () => {
  certificate()
  const site = adapted('deploy/nginx/tollgate.conf')
  const main = join(folder, 'nginx.conf')
  writeFileSync(
    main,
    `pid ${folder}/pid;\nerror_log ${folder}/e.log;\nevents {}\nhttp { include ${site}; }\n`,
  )
  expect(run('nginx', ['-t', '-c', main])).toMatchObject({ status: 0 })
})

test.skipIf(withoutProgram('openssl', 'version') || withoutProgram('haproxy', '-v'))('HAProxy', () => {
  certificate()
  expect(run('haproxy', ['-c', '-f', adapted('deploy/haproxy/haproxy.cfg')])).toMatchObject({ status: 0 })
})

test.skipIf(lacksCaddy)('Caddy', () => {
  const file = join(folder, 'Caddyfile')
  writeFileSync(file, caddyfile())
  expect(run(caddyProgram, ['validate', '--adapter', 'caddyfile', '--config', file])).toMatchObject({
    status: 0,
  })
})

test.skipIf(withoutProgram('systemd-analyze', '--version'))('systemd: the unit exposes little', () => {
  const unit = join(process.cwd(), 'deploy/systemd/tollgate@.service')
  const { text } = run('systemd-analyze', ['security', '--offline=true', '--threshold=20', unit])
  expect(text).toMatch(/exposure level for tollgate@i.service: 1\.\d OK/)
})

// An instance, as systemctl enable names it. What this machine lacks, such as the program in /opt, is no fault of a unit.
const verifiedUnit = (file: string, name = file) => {
  const copy = join(folder, name)
  copyFileSync(join('deploy/systemd', file), copy)
  const { text } = run('systemd-analyze', ['verify', '--man=no', copy])
  return text
    .split('\n')
    .filter(line => line.includes(name) && !/is not executable|Command .* not found/.test(line))
}

test.skipIf(withoutProgram('systemd-analyze', '--version'))(
  'systemd: the services are read without a fault',
  () => {
    writeFileSync(join(folder, 'wrong.service'), '[Service]\nExecStart=/bin/true\nRestrt=always\n')
    const wrong = run('systemd-analyze', ['verify', '--man=no', join(folder, 'wrong.service')])
    expect(wrong.text).toMatch(/Unknown key .*Restrt/)
    expect(verifiedUnit('tollgate@.service', 'tollgate@8081.service')).toEqual([])
    expect(verifiedUnit('tollgate-backup.service')).toEqual([])
  },
)

test.skipIf(withoutProgram('systemd-analyze', '--version'))('systemd: the backup exposes little', () => {
  const unit = join(process.cwd(), 'deploy/systemd/tollgate-backup.service')
  const { text } = run('systemd-analyze', ['security', '--offline=true', '--threshold=20', unit])
  expect(text).toMatch(/exposure level for tollgate-backup.service: 1\.\d OK/)
  const timer = join(process.cwd(), 'deploy/systemd/tollgate-backup.timer')
  expect(run('systemd-analyze', ['verify', '--man=no', timer]).text).not.toMatch(/Unknown|Failed to parse/)
})

test('the board and the rules name metrics that a gateway has', async () => {
  const { text } = await send(`${gateway.url}/metrics`, { headers: asOperator })
  const metrics = new Set([...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name))
  const board = JSON.parse(readFileSync('deploy/grafana/tollgate.json', 'utf8'))
  const expressions: string[] = board.panels.flatMap((panel: { targets?: { expr: string }[] }) =>
    (panel.targets ?? []).map(({ expr }) => expr),
  )
  expect(expressions.length).toBeGreaterThan(20)
  const rules = readFileSync('deploy/prometheus/tollgate.rules.yml', 'utf8')
  const named = [...expressions, rules].flatMap(expression =>
    [...expression.matchAll(/\b(tollgate_\w+|process_\w+|nodejs_\w+)/g)].map(([name]) => name),
  )
  const missing = named.filter(name => !metrics.has(name) && !metrics.has(name.replace(/_bucket$/, '')))
  expect(missing).toEqual([])
})
