import { encode } from 'uqr'

const maskPattern = 3 // cameras read any of the eight; to try them all for the prettiest takes ten times as long
const maxText = 1000 // more makes a code that no phone can read from a screen

export type Squares = { rows: readonly (readonly boolean[])[]; size: number } // true is dark

// A code to scan, with so many light squares around it; undefined for what makes no code.
export function squaresOf(text: string, border: number): Squares | undefined {
  if (text === '' || text.length > maxText) return undefined
  const { data, size } = encode(text, { border, maskPattern })
  return { rows: data, size }
}
