import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'

// Who may import whom. Arrows run downwards only; siblings at the bottom never meet.
const mayImport: Record<string, readonly string[]> = {
  core: ['core'],
  store: ['store', 'core'],
  channels: ['channels', 'core'],
  messengers: ['messengers', 'core'],
  net: ['net', 'core'],
  actions: ['actions', 'store', 'channels', 'messengers', 'net', 'core'],
  web: ['web', 'actions', 'core'],
  workers: ['workers', 'actions', 'core'],
  sandbox: ['sandbox', 'store', 'core'], // and of the store only its own books, see below
}

const sources = readdirSync('src', { recursive: true, withFileTypes: true })
  .filter(entry => entry.isFile() && /\.tsx?$/.test(entry.name))
  .map(entry => join(entry.parentPath, entry.name))

function importsOf(file: string) {
  const text = readFileSync(file, 'utf8')
  return [...text.matchAll(/^(?:import|export)\s[^'"]*?from\s+'([^']+)'/gms)].map(match => match[1] as string)
}

const roomOf = (file: string) => file.split('/')[1] as string

test('imports run down the house, never up', () => {
  const wrong = sources.flatMap(file => {
    const allowed = mayImport[roomOf(file)]
    if (!allowed) return [] // main, cli, config and log stand above the rooms
    return importsOf(file)
      .filter(from => from.startsWith('.'))
      .map(from => roomOf(normalize(join(dirname(file), from))))
      .filter(room => !allowed.includes(room))
      .map(room => `${file} imports ${room}`)
  })
  expect(wrong).toEqual([])
})

test('the simulated provider and the gateway know each other by the wire alone', () => {
  const books = 'store/sandboxCharges.ts'
  const wrong = sources.flatMap(file => {
    const reached = importsOf(file)
      .filter(from => from.startsWith('.'))
      .map(from => normalize(join(dirname(file), from)).slice('src/'.length))
    const foreign = (to: string) =>
      roomOf(file) === 'sandbox'
        ? to.startsWith('store/') && to !== books && to !== 'store/db.ts'
        : to === books || (to.startsWith('sandbox/') && file !== 'src/main.ts')
    return reached.filter(foreign).map(to => `${file} imports ${to}`)
  })
  expect(wrong).toEqual([])
})

test('core has no IO, no clock and no randomness', () => {
  const wrong = sources
    .filter(file => roomOf(file) === 'core')
    .filter(file => {
      const text = readFileSync(file, 'utf8')
      const node = importsOf(file).filter(from => from.startsWith('node:') && from !== 'node:crypto')
      return (
        node.length > 0 || /new Date\(\)|Date\.now|Math\.random|randomBytes|performance\.|fetch\(/.test(text)
      )
    })
  expect(wrong).toEqual([])
})

test('SQL stands in store alone', () => {
  const wrong = sources.filter(
    file =>
      roomOf(file) !== 'store' &&
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
