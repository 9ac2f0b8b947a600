import { withoutControls } from '../../core/timeline/history.ts'
import { painter, type Style } from '../terminal.ts'

type Out = { write(text: string): unknown; hasColors?(): boolean }

const levels: Record<string, Style> = {
  warn: 'yellow',
  error: 'red',
  fatal: 'red',
  debug: 'dim',
  trace: 'dim',
}

// Log lines for a person at a terminal: time, level, message, and the rest as name=value.
export function humanLog(out: Out): { write(line: string): void } {
  const paint = painter(out)
  return {
    write(line) {
      const { level, time, msg, error, ...rest }: Record<string, unknown> = JSON.parse(line)
      const pairs = Object.entries(rest).map(([name, value]) => `${name}=${spell(value)}`)
      const clock = new Date(String(time)).toTimeString().slice(0, 8)
      const word = String(level)
      const words = [
        paint('dim', clock),
        paint(levels[word] ?? 'green', word.padEnd(5)),
        withoutControls(String(msg)),
        paint('dim', withoutControls(pairs.join(' '))),
      ]
      out.write(`${words.join('  ').trimEnd()}\n${error === undefined ? '' : `${spellError(error)}\n`}`)
    },
  }
}

const spell = (value: unknown): string =>
  Array.isArray(value)
    ? value.map(spell).join(',')
    : typeof value === 'string'
      ? value
      : JSON.stringify(value)

// Its lines stay lines.
const spellError = (error: unknown) => textOf(error).split('\n').map(withoutControls).join('\n')

const textOf = (error: unknown) =>
  typeof error === 'object' && error !== null && 'stack' in error ? String(error.stack) : spell(error)
