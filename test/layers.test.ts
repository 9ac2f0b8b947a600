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

const storeyOf = (file: string) => file.split('/')[1] as string

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

test('every room has a rule, and every rule a room', () => {
  const storeys = new Set(entries.map(storeyOf))
  expect([...storeys].toSorted()).toEqual([...Object.keys(mayImport), ...above].toSorted())
})

test('imports run down the house, never up', () => {
  const wrong = [...ours].flatMap(([file, reached]) => {
    const storey = storeyOf(file)
    const allowed = mayImport[storey]
    if (!allowed) return []
    return reached
      .filter(to => storeyOf(to) !== storey && !allowed.includes(storeyOf(to)))
      .map(to => `${file} imports ${to}`)
  })
  expect(wrong).toEqual([])
})

// The first import cycle, as a list of files; undefined if there is none.
function circleIn(arrows: ReadonlyMap<string, Iterable<string>>): string[] {
  const done = new Set<string>()
  function walk(at: string, path: string[]): string[] {
    if (path.includes(at)) return [...path.slice(path.indexOf(at)), at]
    if (done.has(at)) return []
    for (const to of arrows.get(at) ?? []) {
      const circle = walk(to, [...path, at])
      if (circle.length > 0) return circle
    }
    done.add(at)
    return []
  }
  for (const at of arrows.keys()) {
    const circle = walk(at, [])
    if (circle.length > 0) return circle
  }
  return []
}

test('no file imports itself by way of others', () => {
  expect(circleIn(ours)).toEqual([])
})

test('no room imports itself by way of its neighbours', () => {
  const rooms = new Map<string, Set<string>>()
  for (const [file, reached] of ours)
    for (const to of reached) {
      const [from, room] = [dirname(file), dirname(to)]
      const isOneHouse = `${from}/`.startsWith(`${room}/`) || `${room}/`.startsWith(`${from}/`)
      if (!isOneHouse) rooms.set(from, (rooms.get(from) ?? new Set()).add(room))
    }
  expect(circleIn(rooms)).toEqual([])
})

test('the simulated provider and the gateway know each other by the wire alone', () => {
  const books = 'src/store/sandboxCharges.ts'
  const wrong = [...ours].flatMap(([file, reached]) => {
    const foreign = (to: string) =>
      storeyOf(file) === 'sandbox'
        ? storeyOf(to) === 'store' && to !== books && to !== 'src/store/db.ts'
        : to === books || (storeyOf(to) === 'sandbox' && !above.includes(storeyOf(file)))
    return reached.filter(foreign).map(to => `${file} imports ${to}`)
  })
  expect(wrong).toEqual([])
})

test('core has no IO, no clock and no randomness', () => {
  const wrong = sources
    .filter(file => storeyOf(file) === 'core')
    .filter(file => {
      const text = readFileSync(file, 'utf8')
      const node = importsOf(file).filter(from => from.startsWith('node:') && from !== 'node:crypto')
      return (
        node.length > 0 || /new Date\(\)|Date\.now|Math\.random|randomBytes|performance\.|fetch\(/.test(text)
      )
    })
  expect(wrong).toEqual([])
})

test('SQL stands in store alone, and what the private PostgreSQL is told in its own room', () => {
  const wrong = sources.filter(
    file =>
      !['store', 'postgres'].includes(storeyOf(file)) &&
      /sql`|named\('|(?<!req)\.query\(|from 'pg'/.test(readFileSync(file, 'utf8')),
  )
  expect(wrong).toEqual([])
})

test('only config.ts reads the environment', () => {
  const wrong = sources.filter(
    file => file !== 'src/config.ts' && /process\.env/.test(readFileSync(file, 'utf8')),
  )
  expect(wrong).toEqual([])
})

test('only net sends HTTP requests, except the commands that look at the gateway itself', () => {
  const own = ['src/cli/doctor/checkAddresses.ts', 'src/cli/doctor/checkWork.ts']
  const wrong = sources.filter(
    file =>
      !file.startsWith('src/net/') &&
      !own.includes(file) &&
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

test('the SDK and the gateway import nothing of each other', () => {
  const sdk = readdirSync('sdk/node/src').map(name => join('sdk/node/src', name))
  const outside = sdk.flatMap(file => importsOf(file).filter(from => !/^\.\/\w+\.ts$|^node:/.test(from)))
  expect(outside).toEqual([])
  const wrong = [...ours].filter(([, reached]) => reached.some(to => to.startsWith('sdk/')))
  expect(wrong.map(([file]) => file)).toEqual([])
})
