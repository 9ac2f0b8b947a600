import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { newPgBouncer, oldPgBouncer, shippedSettings, startPgBouncer } from '../support/database/pgBouncer.ts'
import { freshDatabase, query } from '../support/database/database.ts'

// The files for containers, each checked by its own program. A program that this machine lacks is named and skipped.
function lacks(program: string, ...args: string[]): boolean {
  const { error, status } = spawnSync(program, args)
  const isMissing = error !== undefined || status !== 0
  if (isMissing) console.warn(`SKIPPED: ${[program, ...args].join(' ')} does not work on this machine.`)
  return isMissing
}

const check = (program: string, ...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' })
  return { status, text: `${stdout}${stderr}` }
}

const compose = readFileSync('deploy/compose/compose.yaml', 'utf8')
const iniSettings = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...text.slice(text.indexOf('[pgbouncer]')).matchAll(/^(\w+) = (.+)$/gm)].map(
      ([, name = '', value = '']) => [name, value],
    ),
  )
const composePooler = iniSettings(readFileSync('deploy/compose/pgbouncer.ini', 'utf8'))

const lacksCompose = lacks('docker', 'compose', 'version')
test.skipIf(lacksCompose)('docker compose reads the compose file', () => {
  expect(check('docker', 'compose', '-f', 'deploy/compose/compose.yaml', 'config', '-q')).toMatchObject({
    status: 0,
  })
})

// Version 1, which Debian 12 has, does not accept `name` and reads the rest.
test.skipIf(!lacksCompose || lacks('docker-compose', 'version'))(
  'docker-compose reads the compose file',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-compose-'))
    const path = join(folder, 'compose.yaml')
    const read = (text: string) => {
      writeFileSync(path, text)
      return check('docker-compose', '--project-directory', 'deploy/compose', '-f', path, 'config')
    }
    const file = compose.replace(/^name: .*\n/m, '')
    const wrong = read(file.replace('cap_drop', 'cap_drops'))
    const { status, text } = read(file)
    rmSync(folder, { recursive: true })
    expect(wrong.text).toContain("'cap_drops'")
    expect(status, text).toBe(0)
    expect(
      text.match(/^ {2}(gateway1|gateway2|database|pgbouncer|nginx|prometheus|grafana):$/gm),
    ).toHaveLength(7)
  },
)

test('the compose file mounts files that exist, and its commands make every secret', () => {
  const mounted = [...compose.matchAll(/^ +- (\.{1,2}\/[^:]+):/gm)].map(([, path]) => path as string)
  expect(mounted.length).toBeGreaterThan(5)
  const made = ['./certificates']
  const missing = mounted.filter(path => !made.includes(path) && !existsSync(join('deploy/compose', path)))
  expect(missing).toEqual([])
  const secrets = [...compose.matchAll(/file: \.\/(secrets\/\w+)/g)].map(([, path]) => path as string)
  const page = readFileSync('docs/deployment.md', 'utf8')
  expect(secrets.filter(path => !page.includes(`> ${path}`))).toEqual([])
})

test('nginx of the compose file finds the gateways, and logs to the driver of the container', () => {
  const edits = /sed '([^']+)'/.exec(compose)?.[1] ?? ''
  const { text } = check('sed', edits, 'deploy/nginx/tollgate.conf')
  expect(text.match(/^ +server (\S+)/gm)?.map(line => line.trim())).toEqual([
    'server gateway1:8080',
    'server gateway2:8080',
  ])
  expect(text).not.toContain('/var/log/nginx')
  expect(text).toMatch(/^ +access_log \/dev\/stdout tollgate;\n +error_log +\/dev\/stderr crit;/m)
  const services = [...compose.matchAll(/^ {2}(gateway\d):/gm)].map(([, name]) => `server ${name}:8080`)
  expect(services).toEqual(['server gateway1:8080', 'server gateway2:8080'])
})

test('PgBouncer of the compose file has the shipped pool', () => {
  expect(composePooler).toMatchObject(shippedSettings())
})

// Before 1.21 it does not have the setting of prepared statements.
const anyPgBouncer = newPgBouncer ?? oldPgBouncer
test.skipIf(!anyPgBouncer)('PgBouncer runs with the settings of the compose file', async () => {
  const database = await freshDatabase()
  const left = newPgBouncer ? /^(listen_|unix_|auth_)/ : /^(listen_|unix_|auth_|max_prepared_)/
  const settings = Object.fromEntries(Object.entries(composePooler).filter(([name]) => !left.test(name)))
  const pooler = await startPgBouncer(anyPgBouncer as string, database.url, settings)
  expect(await query(pooler.url, 'select 1 as one')).toEqual([{ one: 1 }])
  await pooler.stop()
  await database.drop()
})

test.skipIf(lacks('promtool', '--version'))('promtool reads the configuration of Prometheus', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-compose-'))
  try {
    const rules = readFileSync('deploy/prometheus/tollgate.rules.yml', 'utf8')
    writeFileSync(join(folder, 'tollgate.rules.yml'), rules)
    const token = join(folder, 'run/secrets/metrics_token')
    mkdirSync(dirname(token), { recursive: true })
    writeFileSync(token, 'token')
    const text = readFileSync('deploy/compose/prometheus.yml', 'utf8')
    writeFileSync(join(folder, 'prometheus.yml'), text.replace('/run/secrets/metrics_token', token))
    expect(check('promtool', 'check', 'config', join(folder, 'prometheus.yml'))).toMatchObject({ status: 0 })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

for (const file of ['deploy/container/Containerfile', 'deploy/pgbouncer/Containerfile'])
  test.skipIf(lacks('hadolint', '--version'))(`hadolint has nothing against ${file}`, () => {
    expect(check('hadolint', '--failure-threshold', 'warning', file)).toMatchObject({ status: 0 })
  })

test.skipIf(lacks('kubernetes-validate', '--version'))(
  'the manifests follow the schemas of Kubernetes',
  () => {
    expect(check('kubernetes-validate', '--strict', 'deploy/kubernetes/tollgate.yaml')).toMatchObject({
      status: 0,
    })
  },
)
