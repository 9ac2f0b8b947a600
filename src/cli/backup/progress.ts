import { performance } from 'node:perf_hooks'

const atTerminalMs = 1000
const elsewhereMs = 30_000

export type Progress = { table: string; rows: number; ofRows?: number | undefined; bytes: number }

// A line every second at a terminal, and every half minute in the log of a timer.
export function progressReporter(
  json: boolean,
  what: 'Written' | 'Restored' | 'Moved',
): (progress: Progress) => void {
  const started = performance.now()
  const everyMs = process.stderr.isTTY ? atTerminalMs : elsewhereMs
  let next = started + everyMs
  return ({ table, rows, ofRows, bytes }) => {
    const now = performance.now()
    if (json || now < next) return
    next = now + everyMs
    const share = ofRows ? ` of about ${countText(Math.max(ofRows, rows))}` : ''
    const rate = bytesText((bytes / (now - started)) * 1000)
    process.stderr.write(
      `${what}: ${countText(rows)}${share} rows, ${bytesText(bytes)}, ${rate}/s (${table})\n`,
    )
  }
}

export const countText = (count: number) => Math.round(count).toLocaleString('en')

const units = ['B', 'kB', 'MB', 'GB', 'TB']

export function bytesText(bytes: number): string {
  const unit = bytes < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  const value = bytes / 1000 ** unit
  return `${value.toFixed(unit === 0 || value >= 100 ? 0 : 1)} ${units[unit]}`
}
