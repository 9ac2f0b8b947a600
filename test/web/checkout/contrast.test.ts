import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { palettesOf } from '../../../src/core/merchant/accent.ts'

const css = readFileSync(new URL('../../../src/core/markup/tokens.css', import.meta.url), 'utf8')
const [light = '', dark = ''] = css.match(/:root \{[^}]*\}/g) ?? []

const tokensIn = (block: string) =>
  Object.fromEntries([...block.matchAll(/--([\w-]+): (#[0-9a-f]{6,8});/g)].map(match => [match[1], match[2]]))

// A translucent colour, as it appears on its background.
function over(colour: string, ground: string): string {
  const share = Number.parseInt(colour.slice(7) || 'ff', 16) / 255
  const parts = [1, 3, 5].map(at => {
    const [front = 0, back = 0] = [colour, ground].map(one => Number.parseInt(one.slice(at, at + 2), 16))
    return Math.round(front * share + back * (1 - share))
  })
  return `#${parts.map(part => part.toString(16).padStart(2, '0')).join('')}`
}

function luminance(colour: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map(at => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

function contrast(one: string, other: string): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (high + 0.05) / (low + 0.05)
}

const contrastOf = (front: string, back: string) => contrast(over(front, back), back)

const text = 4.5
const shape = 3 // of a control or a mark

const pairs = [
  ['ink', 'background', text],
  ['ink', 'card', text],
  ['ink', 'soft', text],
  ['muted', 'background', text],
  ['muted', 'card', text],
  ['muted', 'soft', text],
  ['ink', 'sunken', text],
  ['muted', 'sunken', text],
  ['accent', 'sunken', text],
  ['muted', 'off-soft', text], // a pill
  ['ink', 'warn-soft', text], // the text of a notice
  ['ink', 'bad-soft', text],
  ['accent', 'background', text], // links
  ['accent', 'card', text],
  ['accent', 'soft', text], // the numbers of the steps
  ['on-accent', 'accent', text],
  ['bad', 'bad-soft', text],
  ['bad', 'card', text],
  ['bad', 'soft', text], // a fault in a field
  ['warn', 'warn-soft', text],
  ['warn', 'card', text],
  ['warn', 'soft', text], // a chosen way that is degraded
  ['edge', 'card', shape], // of a field
  ['edge', 'soft', shape],
  ['edge', 'background', shape],
  ['focus', 'background', shape],
  ['focus', 'card', shape],
  ['focus', 'soft', shape],
  ['on-column', 'column', text], // the bill on a desk, and the ring of what has the focus there
  ['column-muted', 'column', text],
] as const

for (const [scheme, block] of [
  ['light', light],
  ['dark', dark],
] as const) {
  describe(scheme, () => {
    const tokens = { ...tokensIn(light), ...tokensIn(block) }
    for (const [front, back, least] of pairs) {
      test(`${front} on ${back} is at least ${least}`, () =>
        expect(contrastOf(tokens[front] ?? '', tokens[back] ?? '')).toBeGreaterThanOrEqual(least))
    }
  })
}

// The shop chooses the colour of the column, not the colours of the text on it.
for (const accent of ['#5b21b6', '#0b6b4f', '#b3261e', '#757575', '#000000'])
  for (const scheme of ['light', 'dark'] as const)
    test(`the bill has enough contrast on the column of ${accent}, ${scheme}`, () => {
      const { column } = palettesOf(accent)[scheme]
      for (const front of ['on-column', 'column-muted'])
        expect(contrastOf(tokensIn(light)[front] ?? '', column), front).toBeGreaterThanOrEqual(text)
    })
