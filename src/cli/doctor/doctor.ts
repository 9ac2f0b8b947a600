import { readStartSettings } from '../../start/settings.ts'
import type { CliCommand } from '../cliCommand.ts'
import { exitCodes } from '../failure.ts'
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
import { checkOpenFiles, checkSecretFiles } from './checkFiles.ts'
import { checkDataFolder, checkMachine, checkMasterKey } from './checkMachine.ts'
import { checkMessengerServers, checkNameServers, checkProxies } from './checkOutgoing.ts'
import { checkExposure } from './checkReach.ts'

export function addDoctor(program: CliCommand) {
  program
    .command('doctor')
    .description(
      'Check settings, machine, database, merchants, providers, messengers, proxies and the base URL, and say what to do. Changes nothing.',
    )
    .examples('tollgate doctor', 'tollgate doctor --json')
    .run(async () => {
      const checks = await withNotice(runChecks())
      const ok = checks.every(check => check.state !== 'failed')
      return {
        data: { ok, checks },
        text: report(checks),
        exitCode: ok ? exitCodes.done : exitCodes.refused,
      }
    })
}

// Runs all checks, except those that need an invalid setting. What waits for other machines runs beside the database.
async function runChecks(): Promise<Check[]> {
  const { config, faults, warnings } = await readStartSettings()
  const invalid = faults.map(fault => fault.slice(0, fault.indexOf(':')))
  const areValid = (...names: string[]) => !names.some(name => invalid.includes(name))
  const none = Promise.resolve([])
  const [database, messengers, proxies, names, port] = await Promise.all([
    areValid('DATABASE_URL') ? checkDatabaseAndData(config, areValid) : none,
    checkMessengerServers(config),
    checkProxies(config),
    checkNameServers(config),
    areValid('HOST', 'PORT') ? checkPort(config) : undefined,
  ])
  return allChecks(
    faults.map(fault => checkFailed('settings', fault)),
    faults.length === 0 && checkOk('settings', 'all settings are valid'),
    checkSecretFiles(config),
    checkMachine(areValid('DATABASE_URL') ? config : undefined),
    checkOpenFiles(),
    areValid('DATABASE_URL') && checkDataFolder(config),
    areValid('DATABASE_URL', 'TOLLGATE_MASTER_KEY') && checkMasterKey(config),
    database,
    warnings.map(fact => checkWarning('messengers', fact, 'See docs/messengers.md.')),
    messengers,
    checkNotificationEgress(config),
    checkProviderEgress(config),
    proxies,
    names,
    areValid('TOLLGATE_SUPPORT_TOKEN', 'TOLLGATE_METRICS_TOKEN') && checkOperatorPages(config),
    areValid('TOLLGATE_BASE_URL', 'HOST', 'PORT') && checkBaseUrl(config),
    areValid('HOST', 'PORT', 'TOLLGATE_TRUST_PROXY') && checkExposure(config),
    port,
  )
}

const firstNoticeMs = 1000

// On a terminal, a run of more than a second shows that it goes on. The line is gone before the report.
async function withNotice<T>(work: Promise<T>): Promise<T> {
  const { stderr } = process
  if (!stderr.isTTY) return work
  const began = performance.now()
  const clearLine = '\r\x1b[K'
  let isShown = false
  const timer = setInterval(() => {
    isShown = true
    const seconds = Math.round((performance.now() - began) / 1000)
    stderr.write(`${clearLine}Checking: database, addresses, servers … ${seconds} s`)
  }, firstNoticeMs)
  try {
    return await work
  } finally {
    clearInterval(timer)
    if (isShown) stderr.write(clearLine)
  }
}

const marks: Record<State, [string, Style]> = {
  ok: ['✓ ok', 'green'],
  warning: ['! warning', 'yellow'],
  failed: ['✗ failed', 'red'],
}

function report(checks: readonly Check[]): string {
  const width = Math.max(...checks.map(check => check.check.length))
  const order: State[] = ['ok', 'warning', 'failed'] // what needs work is at the end, above the prompt
  const sorted = checks.toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state))
  const lines = sorted.flatMap(({ check, state, fact, todo }) => {
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
