const white = '#ffffff'
const black = '#000000'
const readable = 4.5 // for text, by WCAG 2 AA

// The colours of the page in checkout.css; a test compares them.
export const surroundings = {
  light: { card: '#ffffff', background: '#f4f5f1' },
  dark: { card: '#161e1a', background: '#0e1412' },
} as const

const isReadable = (colour: string, ...on: string[]) => on.every(other => contrast(colour, other) >= readable)

// A colour that contrasts with white text also contrasts with a light page.
const isFit = (accent: string) => isReadable(white, accent)

export const readAccent = (text: string) => text.trim().toLowerCase()

// Why this colour is refused; undefined if it is accepted.
export function accentFault(text: string): string | undefined {
  const accent = readAccent(text)
  if (!isColour(accent)) return 'must be a colour such as #0b6b4f'
  if (isFit(accent)) return undefined
  const ratio = Math.floor(contrast(white, accent) * 10) / 10
  return (
    `white text on ${accent} has a contrast of ${ratio.toFixed(1)}:1, and ${readable}:1 is required; ` +
    `${towards(accent, black, isFit)} would be accepted`
  )
}

// `column` is the background of the order on wide screens, with white text.
type Palette = Record<'accent' | 'on-accent' | 'soft' | 'column', string>

// On a light page the accent is darkened until links are readable. On a dark page it is lightened until it is readable, and
// the text on it is dark.
export const palettesOf = (accent: string): Record<'light' | 'dark', Palette> => ({
  light: lightPalette(accent),
  dark: darkPalette(accent),
})

function lightPalette(accent: string): Palette {
  const { card, background } = surroundings.light
  const soft = mix(accent, white, 0.92)
  const darkened = towards(accent, black, shade => isReadable(shade, card, background, soft))
  return { accent: darkened, 'on-accent': white, soft, column: mix(accent, black, 0.45) }
}

function darkPalette(accent: string): Palette {
  const { card, background } = surroundings.dark
  const softOf = (shade: string) => mix(shade, card, 0.9)
  const lightened = towards(accent, white, shade => isReadable(shade, card, background, softOf(shade)))
  return {
    accent: lightened,
    'on-accent': mix(lightened, black, 0.88),
    soft: softOf(lightened),
    column: mix(accent, black, 0.6),
  }
}

const tokens = (palette: Palette) =>
  `:root{${Object.entries(palette)
    .map(([name, colour]) => `--${name}:${colour}`)
    .join(';')}}`

// A stylesheet that sets the accent on screens; printed pages stay black.
export function accentCss(accent: string): string {
  const { light, dark } = palettesOf(accent)
  return `@media screen{${tokens(light)}}@media screen and (prefers-color-scheme:dark){${tokens(dark)}}`
}

const isColour = (text: string) => /^#[0-9a-f]{6}$/.test(text)

const channelsOf = (colour: string) => [1, 3, 5].map(at => Number.parseInt(colour.slice(at, at + 2), 16))

function luminance(colour: string): number {
  const [r = 0, g = 0, b = 0] = channelsOf(colour).map(part => {
    const share = part / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

// The contrast ratio of WCAG 2: from 1 for equal colours to 21 for black on white.
export function contrast(one: string, other: string): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (high + 0.05) / (low + 0.05)
}

// `share` 0 is the first colour, 1 the other.
function mix(colour: string, other: string, share: number): string {
  const others = channelsOf(other)
  const parts = channelsOf(colour).map((part, at) => Math.round(part + ((others[at] ?? 0) - part) * share))
  return `#${parts.map(part => part.toString(16).padStart(2, '0')).join('')}`
}

const steps = 128

// The first colour between the two that fits; the other colour if none does.
function towards(colour: string, other: string, fits: (shade: string) => boolean): string {
  for (let step = 0; step < steps; step++) {
    const shade = mix(colour, other, step / steps)
    if (fits(shade)) return shade
  }
  return other
}
