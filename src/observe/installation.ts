import type { Logger } from 'pino'
import { copyReasonText, movedText } from '../core/installation/installationTexts.ts'
import type { InstallationLog, InstallationWatch } from '../workers/installationWatch.ts'
import type { Metrics } from './metrics.ts'

export const logInstallation = (log: Logger): InstallationLog => ({
  changed(state) {
    if (state.is === 'original')
      log.warn('this database is the original: workers work, and live payments are taken')
    else if (state.is === 'copy') log.error({ why: state.why.kind }, copyReasonText(state.why))
    else log.error({ moved_to: state.movedTo }, movedText(state.movedTo))
  },
  recorded: (address, reason) => log[recorded[reason].level]({ address }, recorded[reason].text),
  trouble: error =>
    log.warn(
      { error: String(error) },
      'error in the check whether this database is the original; it will retry',
    ),
})

const recorded = {
  first: { level: 'info', text: 'the address of the database was recorded' },
  another_route: {
    level: 'info',
    text: 'another address of the same database was recorded',
  },
  only_test_payments: {
    level: 'warn',
    text:
      'the database was copied or moved to this place; it has test payments only, so this node continues with it, and ' +
      'its address was recorded',
  },
  server_readable: { level: 'info', text: 'the identifier of the database server was recorded' },
} as const

export function gaugeInstallation({ gauge }: Metrics, installation: Pick<InstallationWatch, 'state'>) {
  gauge(
    'tollgate_database_copy',
    'Whether the database of this node is a copy, or has moved (1): no delivery, message, poll or live payment.',
    [],
    copy => copy.set(installation.state().is === 'original' ? 0 : 1),
  )
}
