import type { Config } from '../../config.ts'
import { newSession, operatorKeys, sessionCookie } from '../../core/operator/operatorKeys.ts'
import { listenUrl } from '../../core/networkSettings.ts'
import type { Db } from '../../store/db.ts'
import { findInstallation, openInstallation } from '../../store/installation/secrets.ts'
import { baseUrlOf } from '../provider/baseUrl.ts'
import { type Check, warning } from './check.ts'
import { presentMasterKeys } from './checkMasterKey.ts'

const answerWithinMs = 2000

// Whether the gateway that runs here has stopped its work because of a clock. Its metrics tell; where none runs, or they
// are not ours to read, there is nothing to say.
export async function checkPause(db: Db, config: Config, now: Date): Promise<Check[]> {
  const metrics = await readMetrics(db, config, now)
  if (!/^tollgate_workers_paused 1$/m.test(metrics)) return []
  const [, seconds = '0'] = /^tollgate_clock_offset_seconds\{of="database"\} (\S+)$/m.exec(metrics) ?? []
  return [
    warning(
      'workers',
      `the gateway on ${config.PORT} asks, expires and sends nothing: the clock of the database jumped by ${seconds} s`,
      'It goes on when the old time is back, or the new one has stood for a minute. If the jump was not meant, ' +
        'correct the clock of the database server before that.',
    ),
  ]
}

async function readMetrics(db: Db, config: Config, now: Date): Promise<string> {
  const { HOST, PORT } = config
  if (PORT === 0) return ''
  try {
    const answer = await fetch(`${listenUrl(HOST, PORT)}/metrics`, {
      headers: await credentials(db, config, now),
      signal: AbortSignal.timeout(answerWithinMs),
    })
    return answer.ok ? await answer.text() : ''
  } catch {
    return ''
  }
}

const sessionLastsSeconds = 60

// Not the support token but a short session: another program may have the port of a gateway that does not run. The later
// of two clocks, because the database's may be the one that jumped.
async function credentials(db: Db, config: Config, now: Date): Promise<Record<string, string>> {
  const { TOLLGATE_METRICS_TOKEN: token } = config
  if (token) return { authorization: `Bearer ${token}` }
  const masterKeys = presentMasterKeys(config)
  const stored = await findInstallation(db)
  if (!masterKeys || !stored) return {}
  const { supportToken } = openInstallation(masterKeys, stored)
  const keys = operatorKeys(supportToken, config.TOLLGATE_SUPPORT_TOKEN)
  const begin = new Date(Math.max(now.getTime(), Date.now()))
  return { cookie: `${sessionCookie(baseUrlOf(config))}=${newSession(keys, begin, sessionLastsSeconds)}` }
}
