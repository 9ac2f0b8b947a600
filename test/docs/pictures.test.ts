import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { moves } from '../../src/core/payment/payment.ts'

const idsIn = (picture: string, kind: string) =>
  [
    ...readFileSync(`docs/pictures/${picture}.svg`, 'utf8').matchAll(
      new RegExp(`id="${kind}-([\\w-]+)"`, 'g'),
    ),
  ]
    .map(([, id]) => id as string)
    .toSorted()

const foldersOfSrc = () =>
  readdirSync('src', { withFileTypes: true })
    .filter(entry => entry.isDirectory())
    .map(({ name }) => name)

const textOf = (folder: string) =>
  readdirSync(join('src', folder), { recursive: true, encoding: 'utf8' })
    .filter(file => /\.tsx?$/.test(file))
    .map(file => readFileSync(join('src', folder, file), 'utf8'))
    .join('\n')

test('the picture of the layers has every folder of src, and no other', () => {
  expect(idsIn('layers', 'folder')).toEqual(foldersOfSrc().toSorted())
})

test('every line of it is an import', () => {
  const drawn = idsIn('layers', 'import')
  expect(drawn.length).toBeGreaterThan(10)
  const wrong = drawn.filter(line => {
    const [from = '', to = ''] = line.split('-')
    return !new RegExp(`from '(?:\\.\\./)+${to}/`).test(textOf(from))
  })
  expect(wrong).toEqual([])
})

test('the picture of the life of a payment has every move, and no other', () => {
  const all = Object.entries(moves).flatMap(([from, tos]) => tos.map(to => `${from}-${to}`))
  expect(idsIn('life', 'move')).toEqual(all.toSorted())
  expect(idsIn('life', 'status')).toEqual(Object.keys(moves).toSorted())
})
