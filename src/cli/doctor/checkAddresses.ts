import { createServer } from 'node:net'
import type { Config } from '../../config.ts'
import { isLoopbackName, listenUrl } from '../../core/networkSettings.ts'
import { failureOf } from '../failure.ts'
import { type Check, failed, fine, warning } from './check.ts'

const answerWithinMs = 2000

export function checkBaseUrl(config: Config): Check {
  const { TOLLGATE_BASE_URL: url, HOST, PORT, TOLLGATE_TRUST_PROXY } = config
  if (config.isForThisMachineOnly) return fine('base URL', `http://${HOST}:${PORT}, for this machine only`)
  if (!url)
    return warning(
      'base URL',
      isLoopbackName(HOST)
        ? `not set, although TOLLGATE_TRUST_PROXY is ${TOLLGATE_TRUST_PROXY}`
        : `not set, although HOST is ${HOST}`,
      'Set TOLLGATE_BASE_URL to the address that customers see, such as https://pay.example.',
    )
  if (url.startsWith('https:') || isLoopbackName(new URL(url).hostname)) return fine('base URL', url)
  return warning(
    'base URL',
    url,
    'Customers should pay over https, and live providers call back to https only: put a proxy in front and change TOLLGATE_BASE_URL.',
  )
}

export async function checkPort({ HOST, PORT }: Config): Promise<Check> {
  if (PORT === 0) return fine('port', 'any free one')
  const trouble = await tryListen(HOST, PORT)
  if (!trouble) return fine('port', `${PORT} is free`)
  if (trouble.code === 'EADDRINUSE' && (await isTollgate(HOST, PORT)))
    return fine('port', `a Tollgate is running on ${PORT}`)
  return failed('port', failureOf(trouble).message)
}

const tryListen = (host: string, port: number): Promise<NodeJS.ErrnoException | undefined> =>
  new Promise(resolve => {
    const server = createServer()
    server.once('error', resolve)
    server.listen(port, host, () => server.close(() => resolve(undefined)))
  })

// A proxy or a web site would answer too; only Tollgate names its answers so.
async function isTollgate(host: string, port: number): Promise<boolean> {
  try {
    const answer = await fetch(`${listenUrl(host, port)}/healthz`, {
      signal: AbortSignal.timeout(answerWithinMs),
    })
    return (await answer.text()) === 'ok' && (answer.headers.get('x-request-id') ?? '').startsWith('req_')
  } catch {
    return false
  }
}
