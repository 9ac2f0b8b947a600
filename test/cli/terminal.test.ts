import { expect, test } from 'vitest'
import { humanLog } from '../../src/cli/start/humanLog.ts'
import { facts, painter, table } from '../../src/cli/terminal.ts'

test('columns are as wide as their widest cell, and numbers are aligned right', () => {
  const rows = [
    ['Ama', 'GHS 5.00'],
    ['Kofi’s Café', 'GHS 1200.00'],
  ]
  expect(table(['NAME', 'AMOUNT'], rows, ['AMOUNT'])).toBe(
    ['NAME               AMOUNT', 'Ama              GHS 5.00', 'Kofi’s Café   GHS 1200.00'].join('\n'),
  )
})

test('the values of facts are in one column', () => {
  expect(
    facts([
      ['id', '7'],
      ['merchant', 'Ama'],
    ]),
  ).toBe('  id         7\n  merchant   Ama')
})

test('only terminals that support colour get it', () => {
  expect(painter({})('red', 'no')).toBe('no')
  expect(painter({ hasColors: () => false })('red', 'no')).toBe('no')
  expect(painter({ hasColors: () => true })('red', 'no')).toBe('\x1b[31mno\x1b[0m')
})

test('control characters in a log line have no effect on the terminal', () => {
  const written: string[] = []
  const log = humanLog({ write: text => void written.push(text) })
  const untrusted = 'a\u001b[2J\u009b2J\u202eb\rc\nd'
  log.write(JSON.stringify({ level: 'warn', time: 0, cause: untrusted, error: untrusted, msg: untrusted }))
  expect(written.join('')).not.toMatch(/[\u001b\u009b\u202e\r]/)
  expect(written.join('').split('\n').filter(Boolean)).toHaveLength(3) // the error may have lines
})

test('a log line for people has the time, the level, the message and the rest', () => {
  const written: string[] = []
  const log = humanLog({ write: text => void written.push(text) })
  const time = new Date(2026, 4, 1, 9, 5, 7).toISOString()
  log.write(
    JSON.stringify({ level: 'info', time, status: 200, route: '/docs', of: ['a', 'b'], msg: 'request' }),
  )
  log.write(
    JSON.stringify({
      level: 'error',
      time,
      error: { message: 'x', stack: 'Error: x\n    at y' },
      msg: 'bug',
    }),
  )
  expect(written).toEqual([
    '09:05:07  info   request  status=200 route=/docs of=a,b\n',
    '09:05:07  error  bug\nError: x\n    at y\n',
  ])
})
