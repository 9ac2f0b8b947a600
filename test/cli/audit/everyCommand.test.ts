import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { createProgram } from '../../../src/cli/command.ts'
import { auditTexts } from '../../../src/core/access/auditTexts.ts'

// What each command records in the audit log. A new command has to be added here, so that no change goes unrecorded.
type Recorded = readonly (keyof typeof auditTexts)[] | 'reads' | 'no data of merchants'

const commands: Record<string, Recorded> = {
  start: 'no data of merchants',
  doctor: 'reads',
  migrate: 'no data of merchants',
  adopt: ['database.adopt'],
  nodes: 'reads',
  'backup create': ['backup.create'],
  'backup verify': 'reads',
  'backup show': 'reads',
  restore: 'no data of merchants', // the log of the original comes with the backup
  move: ['database.move'],
  'merchant add': ['merchant.add'],
  'merchant list': 'reads',
  'merchant show': 'reads',
  'merchant set': ['settings.change'],
  'merchant logo': ['logo.set', 'logo.remove'],
  'merchant deactivate': ['merchant.deactivate'],
  'merchant activate': ['merchant.activate'],
  'merchant ipn-secret rotate': ['ipn_secret.rotate'],
  'merchant ipn-password rotate': ['ipn_password.rotate'],
  'outlet add': ['outlet.add'],
  'outlet list': 'reads',
  'outlet report': 'reads',
  'key rotate': ['key.rotate'],
  'master-key rotate': ['master_key.rotate'],
  'provider add': ['account.add'],
  'provider set': ['account.change'],
  'provider enable': ['account.change'],
  'provider disable': ['account.change'],
  'provider confirm': ['account.change'],
  'provider test': 'reads',
  'provider list': 'reads',
  'provider status': 'reads',
  'payment show': 'reads',
  'payment list': 'reads',
  'payment request': ['payment.request'],
  'refund list': 'reads',
  'refund approvals': 'reads',
  'refund show': 'reads',
  'refund create': ['refund.create'],
  'refund retry': ['refund.retry'],
  'refund record': ['refund.record'],
  'request show': 'reads',
  'request list': 'reads',
  'notification list': 'reads',
  'notification show': 'reads',
  'notification redeliver': ['notification.redeliver'],
  'message resend': ['receipt.send'],
  'task list': 'reads',
  'task close': ['task.close'],
  'ledger balance': 'reads',
  'ledger statement': 'reads',
  'ledger verify': 'reads',
  'audit list': 'reads',
  'audit verify': 'reads',
  'audit export': 'reads',
  'person export': ['person.export'],
  'person erase': ['person.erase'],
  'user list': 'reads',
  'user invite': ['user.invite'],
  'user reset': ['user.reset_link'],
  'user rescue': ['user.rescue'],
  'user activate': ['user.activate'],
  'user deactivate': ['user.deactivate'],
  'support link': ['support.link'],
  'support token': ['support.token'],
}

const leavesOf = (command: Command, path: readonly string[] = []): string[] =>
  command.commands.length === 0
    ? [path.join(' ')]
    : command.commands.flatMap(child => leavesOf(child, [...path, child.name()]))

test('every command is known to read only, or to record what it changes', () => {
  expect(leavesOf(createProgram(false)).toSorted()).toEqual(Object.keys(commands).toSorted())
})

const sources = ['actions', 'cli', 'core', 'start', 'web']
  .flatMap(folder =>
    readdirSync(join('src', folder), { recursive: true, withFileTypes: true }).map(file =>
      join(file.parentPath, file.name),
    ),
  )
  .filter(file => /\.tsx?$/.test(file) && !file.endsWith('auditTexts.ts'))
  .map(file => readFileSync(file, 'utf8'))
  .join('\n')

test('every action that a command records is in the code', () => {
  const recorded = new Set(Object.values(commands).flatMap(one => (typeof one === 'string' ? [] : one)))
  expect([...recorded].filter(action => !sources.includes(`'${action}'`))).toEqual([])
})

test('every action in the code has a sentence', () => {
  const actions = [...sources.matchAll(/\baction: (?:\w+ \? )?'(\w+\.\w+)'(?: : '(\w+\.\w+)')?/g)].flatMap(
    ([, ...found]) => found.filter(one => one !== undefined),
  )
  expect(actions.length).toBeGreaterThan(10)
  expect(actions.filter(action => !Object.hasOwn(auditTexts, action))).toEqual([])
})
