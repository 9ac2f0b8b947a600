import type { Config } from '../../config.ts'
import { urlOf } from '../../core/thisMachine.ts'
import { type Check, warning } from './check.ts'

const answerWithinMs = 2000

// Whether the gateway that runs here has stopped its work because of a clock. Its metrics tell; where none runs, or they
// are not ours to read, there is nothing to say.
export async function checkPause(config: Config): Promise<Check[]> {
  const metrics = await readMetrics(config)
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

async function readMetrics({ HOST, PORT, TOLLGATE_METRICS_TOKEN: token }: Config): Promise<string> {
  if (PORT === 0) return ''
  try {
    const answer = await fetch(`${urlOf(HOST, PORT)}/metrics`, {
      headers: token ? { authorization: `Bearer ${token}` } : {},
      signal: AbortSignal.timeout(answerWithinMs),
    })
    return answer.ok ? await answer.text() : ''
  } catch {
    return ''
  }
}
