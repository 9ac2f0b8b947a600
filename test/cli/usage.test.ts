import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { createProgram } from '../../src/cli/command.ts'
import { exitCodeMeanings, failureOf } from '../../src/cli/failure.ts'
import { configNames } from '../../src/config.ts'
import { newMasterKey, temporaryFolder, tollgate, tollgateJson } from './tollgate.ts'

const env = { TOLLGATE_DATA_DIR: `${temporaryFolder()}/data` }

test('without arguments it prints its help, with every command and exit code', async () => {
  const { code, stdout } = await tollgate(env)
  expect(code).toBe(0)
  for (const word of [
    'start',
    'doctor',
    'migrate',
    'merchant',
    'outlet',
    'key',
    'master-key',
    'payment',
    'notification',
    'message',
  ])
    expect(stdout).toMatch(new RegExp(`^  ${word} `, 'm'))
  for (const [number, meaning] of exitCodeMeanings) expect(stdout).toContain(`${number}  ${meaning}`)
})

test('docs/commands.md has the exit codes of the help', () => {
  const page = readFileSync('docs/commands.md', 'utf8').replaceAll('`', '')
  for (const [number, meaning] of exitCodeMeanings) expect(page).toContain(`| ${number} | ${meaning} |`)
})

test('--version prints the version', async () => {
  const { code, stdout } = await tollgate(env, '--version')
  expect([code, stdout]).toEqual([0, '0.2.0\n'])
})

test('start --help has every setting', async () => {
  const { stdout } = await tollgate(env, 'start', '--help')
  const names = [...stdout.matchAll(/^ {2}([A-Z][A-Z_]+) {2}/gm)].map(([, name = '']) => name)
  expect(names.toSorted()).toEqual([...configNames].sort())
})

test('every command has examples in its help, and --json', async () => {
  const program = createProgram(false)
  const paths = pathsBelow(program, [])
  expect(paths.length).toBeGreaterThan(15)
  for (const path of paths) {
    let help = ''
    const fresh = createProgram(false)
    for (const command of commandsOf(fresh)) command.configureOutput({ writeOut: text => (help += text) })
    await expect(fresh.parseAsync([...path, '--help'], { from: 'user' })).rejects.toMatchObject({
      exitCode: 0,
    })
    expect(help).toMatch(/^Examples:\n {2}\$ .*tollgate/m)
    expect(help).toContain('--json')
  }
})

const commandsOf = (command: Command): Command[] => [command, ...command.commands.flatMap(commandsOf)]
const pathsBelow = (command: Command, path: string[]): string[][] =>
  command.commands.flatMap(below => [[...path, below.name()], ...pathsBelow(below, [...path, below.name()])])

const wrongUsage: [string[], string | RegExp][] = [
  [['fly'], "Unknown command 'fly'."],
  [['merchant', 'ad'], "Unknown command 'ad'. Did you mean add?"],
  [['merchant', 'add'], "Required option '--name <name>' not specified."],
  [
    ['merchant', 'add', '--name', ' '],
    /'--name <name>' argument ' ' is invalid\. It must be 1 to 120 characters/,
  ],
  [['merchant', 'add', '--name', 'a\nb'], /on one line/],
  [['merchant', 'add', '--name', 'x'.repeat(121)], /1 to 120/],
  [['merchant', 'show'], /Missing required argument 'id'/],
  [['merchant', 'show', 'a', 'b'], /Too many arguments/],
  [['merchant', 'set', 'a'], /Missing required argument/],
  [['merchant', 'list', '--all'], /Unknown option '--all'/],
  [['outlet', 'add', '--merchant', 'a', '--code', 'a b', '--name', 'n'], /letters, digits, - _ or \. only/],
  [['outlet', 'add', '--merchant', 'a', '--code', 'x'.repeat(65), '--name', 'n'], /1 to 64/],
  [['key', 'rotate', '--merchant', 'a', '--mode', 'prod'], /Allowed choices are test, live/],
  [['key', 'rotate', '--merchant', 'a', '--overlap', '24'], /such as 30m, 24h or 7d/],
  [['key', 'rotate', '--merchant', 'a', '--overlap', '366d'], /up to 365d/],
  [['merchant', 'ipn-secret', 'rotate'], "Required option '--merchant <id>' not specified."],
  [['merchant', 'ipn-secret', 'rotate', '--merchant', 'a', '--overlap', '1y'], /such as 30m, 24h or 7d/],
  [['notification', 'list', '--state', 'lost'], /Allowed choices are due, acknowledged, exhausted, none/],
  [['notification', 'list', '--from', 'monday'], /It must be a day such as 2026-05-31/],
  [['notification', 'show'], /Missing required argument 'id'/],
  [['notification', 'redeliver', '--state', 'due'], /Allowed choices are exhausted, acknowledged, all/],
  [['payment', 'request', '--merchant', 'a'], "Required option '--total <amount>' not specified."],
  [['payment', 'list', '--limit', '0'], /whole number from 1 to 1000/],
  [['payment', 'list', '--status', 'new'], /Allowed choices are awaiting_payment/],
]

for (const [args, message] of wrongUsage)
  test(`${args.join(' ').slice(0, 60)} is wrong usage`, async () => {
    const error: unknown = await createProgram(false)
      .parseAsync(args, { from: 'user' })
      .then(
        () => expect.unreachable(),
        thrown => thrown,
      )
    const failure = failureOf(error)
    expect(failure).toMatchObject({ exit: 2, code: 'usage' })
    expect(failure.message).toMatch(message)
  })

test('wrong usage is one sentence on standard error, and ends with 2', async () => {
  const args = ['merchant', 'ad']
  const [plain, json] = await Promise.all([tollgate(env, ...args), tollgateJson(env, ...args)])
  const message = "Unknown command 'ad'. Did you mean add? See tollgate merchant --help."
  expect(plain).toEqual({ code: 2, stdout: '', stderr: `${message}\n` })
  expect(json).toEqual({ code: 2, data: undefined, error: { code: 'usage', message } })
})

test('a group without its command shows its help, as wrong usage', async () => {
  const { code, stderr } = await tollgate(env, 'merchant')
  expect(code).toBe(2)
  expect(stderr).toMatch(/^Usage: tollgate merchant/)
  const json = await tollgateJson(env, 'merchant')
  expect(json).toMatchObject({
    code: 2,
    error: { message: 'A command is missing. See tollgate merchant --help.' },
  })
})

test('all invalid settings are named together, and the exit code is 78', async () => {
  const wrong = {
    ...env,
    PORT: 'eighty',
    TOLLGATE_POOL_SIZE: '1',
    TOLLGATE_BASE_URL: 'pay.example',
    TOLLGATE_MASTER_KEY: 'abc',
    TOLLGATE_PORT: '80', // there is no such setting
    LOG_LEVEL: 'loud',
  }
  const names = [
    'PORT',
    'TOLLGATE_POOL_SIZE',
    'TOLLGATE_BASE_URL',
    'TOLLGATE_MASTER_KEY',
    'TOLLGATE_PORT',
    'LOG_LEVEL',
  ]
  for (const command of [['start'], ['migrate'], ['merchant', 'list']]) {
    const { code, stdout, stderr } = await tollgate(wrong, ...command)
    expect([code, stdout]).toEqual([78, ''])
    const told = stderr.split('\n').flatMap(line => /^ {2}(\w+): ./.exec(line)?.[1] ?? [])
    expect(told.sort()).toEqual(names.sort())
    expect(stderr).not.toContain('abc') // what may be a secret is not repeated
  }
  const { code, error } = await tollgateJson(wrong, 'start')
  expect(code).toBe(78)
  expect(error.code).toBe('settings')
  expect(error.faults).toHaveLength(names.length)
  for (const name of names) expect(error.message).toContain(`${name}: `)
})

test('a database that cannot be reached or used ends with 69, in one sentence', async () => {
  const key = { TOLLGATE_MASTER_KEY: newMasterKey() }
  const { code, stdout, stderr } = await tollgate(
    { ...key, DATABASE_URL: 'postgres://u:hunter2@127.0.0.1:1/d' },
    'merchant',
    'list',
  )
  expect([code, stdout]).toEqual([69, ''])
  expect(stderr).toMatch(/^The database cannot be reached \(connect ECONNREFUSED 127\.0\.0\.1:1\): .*\n$/)
  expect(stderr).not.toContain('hunter2')
})
