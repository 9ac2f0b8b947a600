import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Observe } from '../../observe/requests.ts'
import { newRequestId } from '../../runtime/ids.ts'
import { sendAnswer, splitUrl } from '../http/apiRequest.ts'
import { wrongMethodAnswer } from '../http/errors.ts'
import type { Answerer } from '../server/server.ts'
import { digestOf } from './documents.ts'

const { version }: { version: string } = createRequire(import.meta.url)('../../../package.json')

export const sdkPackagePath = '/sdk/merchant.tgz'

// The build makes it. The path is the same from src/ and from dist/.
const builtFile = new URL('../../../dist/sdk/merchant.tgz', import.meta.url)

export function readSdkPackage(file = builtFile): Buffer | undefined {
  try {
    return readFileSync(file)
  } catch {
    return undefined // not built, as in tests that run from the sources
  }
}

// Serves the npm package for shops: it is not published, and a shop installs the version of its gateway. The bytes change
// with an update of the gateway, so a client must ask each time, and gets them only if they have changed.
export function serveSdkPackage(
  observe: Observe,
  baseUrl: () => string,
  tarball = readSdkPackage(),
): Answerer {
  if (!tarball) return () => false
  const etag = `"${digestOf(tarball)}"`
  return (incoming, outgoing) => {
    const [path] = splitUrl(incoming.url ?? '')
    if (path !== sdkPackagePath) return false
    const { method = '', headers } = incoming
    const [started, requestId] = [performance.now(), newRequestId()]
    const isRead = method === 'GET' || method === 'HEAD'
    const isUnchanged = isRead && isAmong(etag, headers['if-none-match'])
    if (!isRead) sendAnswer(outgoing, wrongMethodAnswer('GET', { requestId, baseUrl: baseUrl() }), requestId)
    else {
      outgoing.writeHead(isUnchanged ? 304 : 200, {
        'content-type': 'application/gzip',
        'x-request-id': requestId,
        'x-content-type-options': 'nosniff',
        'x-tollgate-version': version, // the commands compare it with their own: npx runs an old copy
        'cache-control': 'no-cache',
        etag,
        ...(!isUnchanged && { 'content-length': tarball.length }),
      })
      outgoing.end(isUnchanged ? undefined : tarball)
    }
    observe({
      requestId,
      method,
      route: sdkPackagePath,
      http: isRead ? (isUnchanged ? 304 : 200) : 405,
      started,
    })
    return true
  }
}

const isAmong = (etag: string, header = '') =>
  header.split(',').some(sent => ['*', etag].includes(sent.trim().replace(/^W\//, '')))
