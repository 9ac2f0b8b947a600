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
      const pairs = Object.entries(rest).map(([field, value]) => `${field}=${valueText(value)}`)
      const clock = new Date(String(time)).toTimeString().slice(0, 8)
      const name = String(level)
      const parts = [
        paint('dim', clock),
        paint(levels[name] ?? 'green', name.padEnd(5)),
        withoutControls(String(msg)),
        paint('dim', withoutControls(pairs.join(' '))),
      ]
      out.write(`${parts.join('  ').trimEnd()}\n${error === undefined ? '' : `${errorText(error)}\n`}`)
    },
  }
}

const valueText = (value: unknown): string =>
  Array.isArray(value)
    ? value.map(valueText).join(',')
    : typeof value === 'string'
      ? value
      : JSON.stringify(value)

// Keeps the line breaks of the stack.
const errorText = (error: unknown) => stackOf(error).split('\n').map(withoutControls).join('\n')

const stackOf = (error: unknown) =>
  typeof error === 'object' && error !== null && 'stack' in error ? String(error.stack) : valueText(error)
