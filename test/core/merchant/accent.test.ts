import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  accentCss,
  accentFault,
  contrast,
  palettesOf,
  surroundings,
} from '../../../src/core/merchant/accent.ts'

const css = readFileSync('src/core/markup/tokens.css', 'utf8')
const [light = '', dark = ''] = css.match(/:root \{[^}]*\}/g) ?? []
const tokensIn = (block: string): Record<string, string> =>
  Object.fromEntries([...block.matchAll(/--([\w-]+): (#[0-9a-f]{6})/g)].map(match => [match[1], match[2]]))

const text = 4.5
const shape = 3

// Foreground and background pairs on a page with an accent.
const pairs = [
  ['accent', 'card', text],
  ['accent', 'background', text],
  ['accent', 'soft', text],
  ['on-accent', 'accent', text],
  ['ink', 'soft', text],
  ['muted', 'soft', text],
  ['bad', 'soft', text],
  ['edge', 'soft', shape],
  ['focus', 'soft', shape],
] as const

const white = '#ffffff'

function expectReadable(accent: string) {
  const palettes = palettesOf(accent)
  for (const [scheme, block] of [
    ['light', light],
    ['dark', dark],
  ] as const) {
    const tokens: Record<string, string> = { ...tokensIn(block), ...palettes[scheme] }
    for (const [front, back, least] of pairs)
      expect(
        contrast(tokens[front] ?? '', tokens[back] ?? ''),
        `${accent}, ${scheme}: ${front} on ${back}`,
      ).toBeGreaterThanOrEqual(least)
    // White text on the column, and text there with three quarters of its opacity.
    expect(contrast(white, tokens.column ?? ''), `${accent}, ${scheme}: column`).toBeGreaterThanOrEqual(7)
  }
}

test('the accent is measured on the colours that the page has', () => {
  for (const [scheme, block] of [
    ['light', light],
    ['dark', dark],
  ] as const)
    expect(tokensIn(block)).toMatchObject(surroundings[scheme])
})

const colour = fc.integer({ min: 0, max: 0xffffff }).map(number => `#${number.toString(16).padStart(6, '0')}`)

test('every accent that is taken is read in both schemes, as text and under text', () => {
  for (const accent of ['#0b6b4f', '#000000', '#0000ff', '#b3261e', '#5b21b6', '#767676', '#8a4b00'])
    expectReadable(accent)
  const fit = colour.filter(one => accentFault(one) === undefined)
  fc.assert(fc.property(fit, expectReadable), { numRuns: 1500 })
})

test('every shade that is proposed is one that is taken', () => {
  fc.assert(
    fc.property(colour, one => {
      const [, proposed] = /(#[0-9a-f]{6}) would be accepted$/.exec(accentFault(one) ?? '') ?? []
      expect(accentFault(proposed ?? one)).toBeUndefined()
    }),
    { numRuns: 1500 },
  )
})

for (const [accent, why] of [
  ['green', 'must be a colour such as #0b6b4f'],
  ['#fff', 'must be a colour such as #0b6b4f'],
  ['0b6b4f', 'must be a colour such as #0b6b4f'],
  ['#0b6b4f;}', 'must be a colour such as #0b6b4f'],
  ['#ffffff', 'white text on #ffffff has a contrast of 1.0:1, and 4.5:1 is required; '],
  ['#FFCC00', 'white text on #ffcc00 has a contrast of 1.5:1'],
] as const)
  test(`${accent} is refused: ${why}`, () => expect(accentFault(accent)).toContain(why))

for (const accent of ['#0b6b4f', '#0B6B4F', ' #0b6b4f '])
  test(`${accent} is taken`, () => expect(accentFault(accent)).toBeUndefined())

test('the stylesheet of an accent has nothing but its colours, for the screen', () => {
  const made = accentCss('#0b6b4f')
  expect(made).toMatch(
    /^@media screen\{:root\{(--[\w-]+:#[0-9a-f]{6};?)+\}\}@media screen and \(prefers-color-scheme:dark\)\{:root\{(--[\w-]+:#[0-9a-f]{6};?)+\}\}$/,
  )
  expect(made).toContain('--accent:#0b6b4f')
})
