import { readStartSettings } from '../../start/settings.ts'
import { exitCodes } from '../failure.ts'
import type { CliCommand } from '../cliCommand.ts'
import { paint, type Style } from '../terminal.ts'
import { allChecks, type Check, checkFailed, checkOk, checkWarning, type State } from './check.ts'
import {
  checkBaseUrl,
  checkNotificationEgress,
  checkOperatorPages,
  checkPort,
  checkProviderEgress,
} from './checkAddresses.ts'
import { checkDatabaseAndData } from './checkDatabase.ts'
import { checkDataFolder, checkMachine, checkMasterKey } from './checkMachine.ts'

export function addDoctor(program: CliCommand) {
  program
    .command('doctor')
    .description(
      'Check settings, machine, disk, database, merchants and providers, and say what to do. Changes nothing.',
    )
    .examples('tollgate doctor', 'tollgate doctor --json')
    .run(async () => {
      const checks = await runChecks()
      const ok = checks.every(check => check.state !== 'failed')
      return {
        data: { ok, checks },
        text: report(checks),
        exitCode: ok ? exitCodes.done : exitCodes.refused,
      }
    })
}

// Runs all checks, except those that need an invalid setting.
async function runChecks(): Promise<Check[]> {
  const { config, faults, warnings } = await readStartSettings()
  const invalid = faults.map(fault => fault.slice(0, fault.indexOf(':')))
  const areValid = (...names: string[]) => !names.some(name => invalid.includes(name))
  return allChecks(
    faults.map(fault => checkFailed('settings', fault)),
    faults.length === 0 && checkOk('settings', 'all settings are valid'),
    warnings.map(fact => checkWarning('messengers', fact, 'See docs/messengers.md.')),
    checkMachine(areValid('DATABASE_URL') ? config : undefined),
    areValid('DATABASE_URL') && checkDataFolder(config),
    areValid('DATABASE_URL', 'TOLLGATE_MASTER_KEY') && checkMasterKey(config),
    areValid('DATABASE_URL') && (await checkDatabaseAndData(config, areValid)),
    checkNotificationEgress(config),
    checkProviderEgress(config),
    areValid('TOLLGATE_SUPPORT_TOKEN', 'TOLLGATE_METRICS_TOKEN') && checkOperatorPages(config),
    areValid('TOLLGATE_BASE_URL', 'HOST', 'PORT') && checkBaseUrl(config),
    areValid('HOST', 'PORT') && (await checkPort(config)),
  )
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
  if (count('warning') > 0) return paint('yellow', 'Tollgate can run. See the warnings.')
  return paint('green', 'All is well.')
}
