import { readCredentials } from './credentials.ts'
import type { Io } from './command.ts'

const waitMs = 1500

// npx asks the address for its package once, and then runs that copy also when the gateway has another version. Never
// throws: what is wrong with the settings or the gateway is reported by the command itself.
export async function outdatedText(env: Io['env'], own: string): Promise<string | undefined> {
  try {
    const baseUrl = (await readCredentials(env)).baseUrl?.replace(/\/+$/, '')
    if (!baseUrl) return undefined
    const address = `${baseUrl}/sdk/merchant.tgz`
    const { headers } = await fetch(address, { method: 'HEAD', signal: AbortSignal.timeout(waitMs) })
    const served = headers.get('x-tollgate-version')
    if (!served || !/^[\w.+-]{1,40}$/.test(served) || served === own) return undefined
    return (
      `These commands have version ${own}, and the gateway at ${baseUrl} has ${served}. npx keeps the copy that it got first. ` +
      `To get the other: rm -rf "$(npm config get cache)/_npx", or npm install ${address} in the folder of your shop.`
    )
  } catch {
    return undefined
  }
}
