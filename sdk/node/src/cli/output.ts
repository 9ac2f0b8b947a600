import type { Io } from './command.ts'

const codes = { green: 32, red: 31, yellow: 33, dim: 2, bold: 1 }

export const paint = (
  { isTerminal }: Pick<Io, 'isTerminal'>,
  colour: keyof typeof codes,
  text: string,
): string => (isTerminal ? `\x1b[${codes[colour]}m${text}\x1b[0m` : text)

// Pads before painting: colour codes have no width.
export const cell = (
  io: Pick<Io, 'isTerminal'>,
  text: string,
  width: number,
  colour?: keyof typeof codes,
): string => {
  const padded = text.padEnd(width)
  return colour ? paint(io, colour, padded) : padded
}

// Text of the gateway or of a handler may contain control characters, which a terminal would execute.
export const printable = (text: string): string => text.replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, '�')

export const clockTime = (date: Date): string =>
  [date.getHours(), date.getMinutes(), date.getSeconds()].map(part => String(part).padStart(2, '0')).join(':')

export const indent = (text: string, by: number): string =>
  text
    .split('\n')
    .map(line => ' '.repeat(by) + line)
    .join('\n')
