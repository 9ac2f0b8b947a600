import type { Command } from 'commander'
import { type Config, ConfigError, readConfig } from '../config.ts'
import type { Cli } from './answer.ts'
import { type Check, failed, fine, type State } from './check.ts'
import { checkBaseUrl, checkPort } from './checkAddresses.ts'
import { checkRecords } from './checkDatabase.ts'
import { checkDataFolder } from './checkFolder.ts'
import { checkMachine } from './checkMachine.ts'
import { checkPause } from './checkPause.ts'
import { checkMasterKey } from './checkMasterKey.ts'
import { exitCodes } from './exitCodes.ts'
import { examples } from './help.ts'
import { paint, type Style } from './terminal.ts'

export function addDoctor(program: Command, cli: Cli) {
  program
    .command('doctor')
    .description('Check settings, machine, disk, database and clock, and say what to do. Changes nothing.')
    .addHelpText('after', examples('tollgate doctor', 'tollgate doctor --json'))
    .action(async () => {
      const checks = await examine()
      const ok = checks.every(check => check.state !== 'failed')
      cli.print({ data: { ok, checks }, text: report(checks) })
      process.exitCode = ok ? exitCodes.done : exitCodes.refused
    })
}

async function examine(): Promise<Check[]> {
  const config = readConfigOrFaults()
  if (Array.isArray(config)) return [...config, ...checkMachine()]
  return [
    fine('settings', 'every setting can be read'),
    ...checkMachine(config),
    ...checkDataFolder(config),
    checkMasterKey(config),
    ...(await checkRecords(config)),
    checkBaseUrl(config),
    await checkPort(config),
    ...(await checkPause(config)),
  ]
}

function readConfigOrFaults(): Config | Check[] {
  try {
    return readConfig()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.faults.map(fault =>
      failed('settings', fault, 'Correct it; the database is checked after that.'),
    )
  }
}

const marks: Record<State, [string, Style]> = {
  ok: ['✓ ok', 'green'],
  warning: ['! warning', 'yellow'],
  failed: ['✗ failed', 'red'],
}

function report(checks: readonly Check[]): string {
  const width = Math.max(...checks.map(check => check.check.length))
  const lines = checks.flatMap(({ check, state, fact, todo }) => {
    const [mark, style] = marks[state]
    const line = `${paint(style, mark.padEnd(9))}  ${check.padEnd(width)}  ${fact}`
    return todo ? [line, `${' '.repeat(width + 13)}${todo}`] : [line]
  })
  return `${lines.join('\n')}\n\n${summary(checks)}`
}

function summary(checks: readonly Check[]): string {
  const count = (state: State) => checks.filter(check => check.state === state).length
  if (count('failed') > 0)
    return paint('red', `Tollgate cannot run well like this: ${count('failed')} failed.`)
  if (count('warning') > 0) return paint('yellow', 'Tollgate can run. Look at the warnings.')
  return paint('green', 'All is well.')
}
