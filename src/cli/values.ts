import { InvalidArgumentError, Option } from 'commander'
import { z } from 'zod'
import { parseReference } from '../core/payment/reference.ts'
import { isOutletCode } from '../core/merchant/outlet.ts'
import { isPlainText } from '../core/text.ts'
import { refused } from './failure.ts'

// Parsers of option values. Commander adds the name of the option to their errors.
const maxNameLength = 120
const maxNoteLength = 500
const maxOverlapDays = 365
const maxLimit = 1000

export const readName = (text: string) => readTextLine(text, maxNameLength)
export const readNote = (text: string) => readTextLine(text, maxNoteLength)

function readTextLine(text: string, maxLength: number): string {
  const line = text.trim()
  if (line === '' || line.length > maxLength || !isPlainText(line))
    throw new InvalidArgumentError(`It must be 1 to ${maxLength} characters on one line.`)
  return line
}

export function readOutletCode(text: string): string {
  if (!isOutletCode(text))
    throw new InvalidArgumentError('It must be 1 to 64 letters, digits, - _ or . only.')
  return text
}

const unitMs: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

function readDurationMs(text: string): number {
  const [, count = '', unit = 's'] = /^(?=0$|\d+[smhd]$)(\d{1,9})([smhd])?$/.exec(text) ?? []
  const ms = Number(count) * (unitMs[unit] ?? 0)
  if (count === '' || ms > maxOverlapDays * 86_400_000)
    throw new InvalidArgumentError(
      `It must be 0, or a time such as 30m, 24h or 7d, up to ${maxOverlapDays}d.`,
    )
  return ms
}

export const overlapOption = (description: string) =>
  new Option('--overlap <time>', `${description}: 0, 30m, 24h, 7d`)
    .argParser(readDurationMs)
    .default(24 * 3_600_000, '24h')

const day = z.iso.date()
const instant = z.iso.datetime({ offset: true })
const isKnownYear = (date: Date) => date.getUTCFullYear() >= 2000 && date.getUTCFullYear() < 3000

function readTime(text: string, dayShiftMs: number): Date {
  const isDay = day.safeParse(text).success
  const date = new Date(isDay ? Date.parse(text) + dayShiftMs : text)
  if ((!isDay && !instant.safeParse(text).success) || !isKnownYear(date))
    throw new InvalidArgumentError(
      'It must be a day such as 2026-05-31, or an instant such as 2026-05-31T18:00:00Z.',
    )
  return date
}

export const readInstant = (text: string) => readTime(text, 0)

export const fromOption = () =>
  new Option('--from <date>', 'the first day (2026-05-01), or an instant (2026-05-01T08:00:00Z)').argParser(
    text => readTime(text, 0),
  )

// A day is included up to its end.
export const toOption = () =>
  new Option('--to <date>', 'the last day (included), or an instant (not included)').argParser(text =>
    readTime(text, unitMs.d as number),
  )

export function requirePeriod(from: Date | undefined, to: Date | undefined) {
  if (from && to && from >= to) throw refused('--from must be before --to.')
}

export function readLimit(text: string): number {
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (limit < 1 || limit > maxLimit)
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${maxLimit}.`)
  return limit
}

export function readReference(text: string): string {
  const reference = parseReference(text)
  if (!reference) throw new InvalidArgumentError('It must be a reference such as TG-01KA9C-7M2QXH-0V4D1R.')
  return reference
}

export const modeOption = (description: string) =>
  new Option('--mode <mode>', description).choices(['test', 'live'])

export const statusOption = (description: string) =>
  new Option('--status <status>', description).choices(['awaiting_payment', 'paid', 'cancelled', 'failed'])
