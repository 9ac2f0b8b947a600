import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { currencies, decimalsOf } from '../../src/core/money.ts'

const page = readFileSync('docs/interface.md', 'utf8')
const section = /^### Currencies$(.*?)^###/ms.exec(page)?.[1] ?? ''

for (const [title, places] of [
  ['2', 2],
  ['none', 0],
] as const)
  test(`the page names every currency whose decimals are ${title}, and no other`, () => {
    const [, codes = ''] = new RegExp(`^\\| ${title} \\| (.*) \\|$`, 'm').exec(section) ?? []
    expect(codes.split(', ')).toEqual(currencies.filter(code => decimalsOf(code) === places))
  })
