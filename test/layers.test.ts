import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'

// The folders that each folder of src/ may import: higher layers import lower ones only. `net` is shared by everything
// that sends requests. `start`, `cli` and the files in src/ itself may import everything.
const mayImport: Record<string, readonly string[]> = {
  core: [],
  store: ['core'],
  postgres: ['core'],
  net: ['core'],
  providers: ['net', 'core'],
  messengers: ['net', 'core'],
  sandbox: ['net', 'store', 'core'], // and of the store only its own tables, see below
  runtime: ['store', 'core'],
  actions: ['runtime', 'store', 'core'],
  workers: ['actions', 'runtime', 'store', 'net', 'core'],
  observe: ['workers', 'actions', 'runtime', 'core'],
  web: ['observe', 'actions', 'runtime', 'core'],
}
const above = ['start', 'cli', 'main.ts', 'cli.ts', 'config.ts']

const entries = readdirSync('src', { recursive: true, withFileTypes: true })
  .filter(entry => entry.isFile())
  .map(entry => join(entry.parentPath, entry.name))
const sources = entries.filter(file => /\.tsx?$/.test(file))

const layerOf = (file: string) => file.split('/')[1] as string

const importsOf = (file: string) =>
  [...readFileSync(file, 'utf8').matchAll(/^(?:import|export)\s[^'"]*?from\s+'([^']+)'/gms)].map(
    match => match[1] as string,
  )

const ours = new Map(
  sources.map(file => [
    file,
    importsOf(file)
      .filter(from => from.startsWith('.'))
      .map(from => normalize(join(dirname(file), from))),
  ]),
)

test('every folder has a rule, and every rule a folder', () => {
  const layers = new Set(entries.map(layerOf))
  expect([...layers].toSorted()).toEqual([...Object.keys(mayImport), ...above].toSorted())
})

test('no layer imports a higher one', () => {
  const wrong = [...ours].flatMap(([file, reached]) => {
    const layer = layerOf(file)
    const allowed = mayImport[layer]
    if (!allowed) return []
    return reached
      .filter(to => layerOf(to) !== layer && !allowed.includes(layerOf(to)))
      .map(to => `${file} imports ${to}`)
  })
  expect(wrong).toEqual([])
})

// The first import cycle, as a list of files; undefined if there is none.
function cycleIn(arrows: ReadonlyMap<string, Iterable<string>>): string[] {
  const done = new Set<string>()
  function walk(at: string, path: string[]): string[] {
    if (path.includes(at)) return [...path.slice(path.indexOf(at)), at]
    if (done.has(at)) return []
    for (const to of arrows.get(at) ?? []) {
      const cycle = walk(to, [...path, at])
      if (cycle.length > 0) return cycle
    }
    done.add(at)
    return []
  }
  for (const at of arrows.keys()) {
    const cycle = walk(at, [])
    if (cycle.length > 0) return cycle
  }
  return []
}

test('there is no import cycle of files', () => {
  expect(cycleIn(ours)).toEqual([])
})

test('there is no import cycle of folders', () => {
  const folders = new Map<string, Set<string>>()
  for (const [file, reached] of ours)
    for (const to of reached) {
      const [from, folder] = [dirname(file), dirname(to)]
      const isNested = `${from}/`.startsWith(`${folder}/`) || `${folder}/`.startsWith(`${from}/`)
      if (!isNested) folders.set(from, (folders.get(from) ?? new Set()).add(folder))
    }
  expect(cycleIn(folders)).toEqual([])
})

test('the simulated provider and the gateway share no code but the database connection', () => {
  const ownFiles = ['src/store/sandboxCharges.ts', 'src/store/sandboxRefunds.ts']
  const wrong = [...ours].flatMap(([file, reached]) => {
    const foreign = (to: string) =>
      layerOf(file) === 'sandbox'
        ? layerOf(to) === 'store' && ![...ownFiles, 'src/store/db.ts'].includes(to)
        : ownFiles.includes(to) || (layerOf(to) === 'sandbox' && !above.includes(layerOf(file)))
    return reached.filter(foreign).map(to => `${file} imports ${to}`)
  })
  expect(wrong).toEqual([])
})

test('core has no IO, no clock and no randomness', () => {
  const wrong = sources
    .filter(file => layerOf(file) === 'core')
    .filter(file => {
      const text = readFileSync(file, 'utf8')
      const node = importsOf(file).filter(from => from.startsWith('node:') && from !== 'node:crypto')
      return (
        node.length > 0 || /new Date\(\)|Date\.now|Math\.random|randomBytes|performance\.|fetch\(/.test(text)
      )
    })
  expect(wrong).toEqual([])
})

test('only store and postgres contain SQL', () => {
  const wrong = sources.filter(
    file =>
      !['store', 'postgres'].includes(layerOf(file)) &&
      /sql`|named\('|(?<!req)\.query\(|from 'pg'/.test(readFileSync(file, 'utf8')),
  )
  expect(wrong).toEqual([])
})

// The samples of the API reference are programs in texts. They read the environment and send requests, this program does
// not.
const isSample = (file: string) => /^src\/web\/docs\/reference\/\w*[sS]amples\.ts$/.test(file)

test('only config.ts reads the environment', () => {
  const wrong = sources.filter(
    file => file !== 'src/config.ts' && !isSample(file) && /process\.env/.test(readFileSync(file, 'utf8')),
  )
  expect(wrong).toEqual([])
})

test('only net sends HTTP requests, except to the gateway itself: commands that look at it, and the demo shop', () => {
  const own = [
    'src/cli/doctor/checkAddresses.ts',
    'src/cli/doctor/checkReach.ts',
    'src/cli/doctor/checkWork.ts',
    'src/start/shop.ts',
  ]
  const wrong = sources.filter(
    file =>
      !file.startsWith('src/net/') &&
      !own.includes(file) &&
      !isSample(file) &&
      /\bfetch\(|https?\.(request|get)\(|from '(undici|node:https)'/.test(readFileSync(file, 'utf8')),
  )
  expect(wrong).toEqual([])
})

test('only settings of the operator become addresses without the address guard', () => {
  const made = sources.filter(file => /\boperatorUrl\(|as OperatorUrl/.test(readFileSync(file, 'utf8')))
  expect(made.toSorted()).toEqual([
    'src/core/urlTrust.ts',
    'src/messengers/smsHttp/settings.ts',
    'src/providers/mtn/settings.ts',
    'src/providers/paystack.ts',
    'src/providers/sandbox.ts',
    'src/sandbox/callbacks.ts',
  ])
})

const isInsideSdk = (file: string, from: string) =>
  from.startsWith('node:') ||
  (from.startsWith('.') && normalize(join(dirname(file), from)).startsWith('sdk/node/src/'))

test('the SDK and the gateway import nothing of each other, except that the gateway serves the demo shop', () => {
  const sdk = readdirSync('sdk/node/src', { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
  const outside = sdk.flatMap(file => importsOf(file).filter(from => !isInsideSdk(file, from)))
  expect(outside).toEqual([])
  const importers = sources.filter(file =>
    importsOf(file).some(from => from === '#sdk' || /^@tollgate\b|\/(sdk|examples)\//.test(from)),
  )
  expect(importers).toEqual(['src/start/shop.ts'])
})
