import type { Command } from 'commander'
import { readStartSettings } from '../../start/settings.ts'
import { exitCodes } from '../exitCodes.ts'
import { examples } from '../help.ts'
import type { Cli } from '../output.ts'
import { paint, type Style } from '../terminal.ts'
import { type Check, failed, fine, type State, warning } from './check.ts'
import { checkBaseUrl, checkPort } from './checkAddresses.ts'
import { checkRecords } from './checkDatabase.ts'
import { checkDoors } from './checkDoors.ts'
import { checkEgress } from './checkEgress.ts'
import { checkDataFolder } from './checkFolder.ts'
import { checkMachine } from './checkMachine.ts'
import { checkMasterKey } from './checkMasterKey.ts'

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

// Everything at once: what depends on a setting that is wrong is left out, and all the rest is looked at.
async function examine(): Promise<Check[]> {
  const { config, faults, warnings } = await readStartSettings()
  const wrong = faults.map(fault => fault.slice(0, fault.indexOf(':')))
  const isRight = (...names: string[]) => !names.some(name => wrong.includes(name))
  return [
    ...checkSettings(faults, warnings),
    ...checkMachine(isRight('DATABASE_URL') ? config : undefined),
    ...(isRight('DATABASE_URL') ? checkDataFolder(config) : []),
    ...(isRight('DATABASE_URL', 'TOLLGATE_MASTER_KEY') ? [checkMasterKey(config)] : []),
    ...(isRight('DATABASE_URL') ? await checkRecords(config, isRight) : []),
    ...checkEgress(config),
    ...(isRight('TOLLGATE_SUPPORT_TOKEN', 'TOLLGATE_METRICS_TOKEN') ? checkDoors(config) : []),
    ...(isRight('TOLLGATE_BASE_URL', 'HOST', 'PORT') ? [checkBaseUrl(config)] : []),
    ...(isRight('HOST', 'PORT') ? [await checkPort(config)] : []),
  ]
}

const checkSettings = (faults: string[], warnings: string[]): Check[] => [
  ...faults.map(fault => failed('settings', fault)),
  ...(faults.length === 0 ? [fine('settings', 'every setting can be read')] : []),
  ...warnings.map(words => warning('messengers', words, 'See docs/messengers.md.')),
]

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
