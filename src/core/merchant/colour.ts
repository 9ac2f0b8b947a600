// Colours as #rrggbb, and how well one is seen on another, by the formula of WCAG 2.
export const isColour = (text: string) => /^#[0-9a-f]{6}$/.test(text)

const partsOf = (colour: string) => [1, 3, 5].map(at => Number.parseInt(colour.slice(at, at + 2), 16))

function luminance(colour: string): number {
  const [r = 0, g = 0, b = 0] = partsOf(colour).map(part => {
    const share = part / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

// From 1, which nobody sees, to 21, black on white.
export function contrast(one: string, other: string): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (high + 0.05) / (low + 0.05)
}

// So much of the other colour: 0 is none of it, 1 is nothing else.
export function mix(colour: string, other: string, share: number): string {
  const others = partsOf(other)
  const parts = partsOf(colour).map((part, at) => Math.round(part + ((others[at] ?? 0) - part) * share))
  return `#${parts.map(part => part.toString(16).padStart(2, '0')).join('')}`
}

const steps = 128

// The colour itself, or the first on its way to the other that will do; the other one if none does.
export function towards(colour: string, other: string, isFit: (shade: string) => boolean): string {
  for (let step = 0; step < steps; step++) {
    const shade = mix(colour, other, step / steps)
    if (isFit(shade)) return shade
  }
  return other
}
