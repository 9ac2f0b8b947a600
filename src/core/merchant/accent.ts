import { contrast, isColour, mix, towards } from './colour.ts'

const white = '#ffffff'
const black = '#000000'
const readable = 4.5 // for text, by WCAG 2 AA

// Of the page around it, as checkout.css has them; a test holds the two together.
export const surroundings = {
  light: { card: '#ffffff', background: '#f4f5f1' },
  dark: { card: '#161e1a', background: '#0e1412' },
} as const

const isReadable = (colour: string, ...on: string[]) => on.every(other => contrast(colour, other) >= readable)

// Whoever is read in white stands out from a light page all the more.
const isFit = (accent: string) => isReadable(white, accent)

export const readAccent = (text: string) => text.trim().toLowerCase()

// Why a merchant cannot have this accent; undefined when it can.
export function accentFault(text: string): string | undefined {
  const accent = readAccent(text)
  if (!isColour(accent)) return 'must be a colour such as #0b6b4f'
  if (isFit(accent)) return undefined
  const ratio = Math.floor(contrast(white, accent) * 10) / 10
  return (
    `white text on ${accent} has a contrast of ${ratio.toFixed(1)}:1, and ${readable}:1 is needed to be read; ` +
    `${towards(accent, black, isFit)} would do`
  )
}

// The column is what a desk shows the order on, in white.
export type Palette = Record<'accent' | 'on-accent' | 'soft' | 'column', string>

// What a page wears with an accent. On a light page it is a hair darker where a link would be too faint; on a dark page it
// is lightened until it is read there, and what stands on it is dark.
export const palettesOf = (accent: string): Record<'light' | 'dark', Palette> => ({
  light: lightPalette(accent),
  dark: darkPalette(accent),
})

function lightPalette(accent: string): Palette {
  const { card, background } = surroundings.light
  const soft = mix(accent, white, 0.92)
  const seen = towards(accent, black, shade => isReadable(shade, card, background, soft))
  return { accent: seen, 'on-accent': white, soft, column: mix(accent, black, 0.45) }
}

function darkPalette(accent: string): Palette {
  const { card, background } = surroundings.dark
  const softOf = (shade: string) => mix(shade, card, 0.9)
  const seen = towards(accent, white, shade => isReadable(shade, card, background, softOf(shade)))
  return {
    accent: seen,
    'on-accent': mix(seen, black, 0.88),
    soft: softOf(seen),
    column: mix(accent, black, 0.6),
  }
}

const tokens = (palette: Palette) =>
  `:root{${Object.entries(palette)
    .map(([name, colour]) => `--${name}:${colour}`)
    .join(';')}}`

// A small stylesheet beside that of the page. What is printed stays black.
export function accentCss(accent: string): string {
  const { light, dark } = palettesOf(accent)
  return `@media screen{${tokens(light)}}@media screen and (prefers-color-scheme:dark){${tokens(dark)}}`
}
