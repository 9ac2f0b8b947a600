import { createHash } from 'node:crypto'
import { readFileSync, realpathSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { databaseAddress, folderAddress } from '../core/installation/databaseAddress.ts'

const idFiles = ['/etc/machine-id', '/var/lib/dbus/machine-id']

// Hashed, because programs must not publish the id. Undefined on systems without one, such as most containers.
function machineId(): string | undefined {
  for (const file of idFiles)
    try {
      const id = readFileSync(file, 'utf8').trim()
      if (/^[0-9a-f]{32}$/.test(id))
        return createHash('sha256').update(`tollgate ${id}`).digest('hex').slice(0, 12)
    } catch {
      continue
    }
  return undefined
}

// Where this process finds its database.
export const addressOfUrl = (url: string) => databaseAddress(url, machineId())

// The number of the folder in its file system changes when it is copied, which detects copies on a machine without an id.
// The name of the machine would not do: a laptop changes it with the network, and a container with every start.
export function addressOfFolder(dataDir: string): string {
  const folder = realpathSync(resolve(dataDir))
  return folderAddress(folder, machineId() ?? `folder-${statSync(folder).ino}`)
}
