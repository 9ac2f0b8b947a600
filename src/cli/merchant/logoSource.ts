import { readFile, stat } from 'node:fs/promises'
import type { Config } from '../../config.ts'
import { maxGivenBytes } from '../../core/merchant/logo/logo.ts'
import type { UntrustedUrl } from '../../core/urlTrust.ts'
import { createOutbound } from '../../net/outbound.ts'
import { merchantEgress } from '../../start/egress.ts'
import { CannotDo } from '../failure.ts'

const cannot = (words: string) => new CannotDo('refused', words)

// Not of a pipe or a device, which may never end.
export async function readLogoFile(path: string): Promise<Buffer> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? new CannotDo('not_found', `There is no file ${path}.`) : error
  })
  if (!found.isFile()) throw cannot(`${path} is no file.`)
  if (found.size > maxGivenBytes)
    throw cannot(
      `${path} has ${Math.ceil(found.size / 1024)} kB, and at most ${maxGivenBytes / 1024} kB are read.`,
    )
  return readFile(path)
}

// By the same way out as notifications: nothing behind our own walls is reached, and nobody is followed elsewhere.
export async function fetchLogo(config: Config, url: UntrustedUrl): Promise<Buffer> {
  const outbound = createOutbound(merchantEgress(config))
  try {
    const { status, body, words } = await outbound.send({
      method: 'GET',
      url,
      headers: { accept: 'image/png, image/jpeg' },
      lane: 'logo',
      maxBodyBytes: maxGivenBytes + 1, // one more tells that it is too large
      allowLoopback: config.TOLLGATE_EGRESS_LOOPBACK ?? false,
    })
    if (status === null) throw cannot(`The logo could not be fetched: ${words}.`)
    if (status !== 200 || body === null)
      throw cannot(`${url} answered ${status}: give the address of the picture itself.`)
    return body
  } finally {
    await outbound.close()
  }
}
