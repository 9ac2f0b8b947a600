import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BackupFault } from '../core/backup/fault.ts'
import { startEmbedded } from '../postgres/embedded.ts'
import { createScratchDatabase } from '../store/backups/scratchDatabase.ts'

export type Scratch = { url: string; remove(): Promise<void> }

// An empty database for a moment: on the server of `serverUrl`, or a private PostgreSQL in a temporary folder.
export async function openScratchDatabase(serverUrl: string | undefined): Promise<Scratch> {
  if (serverUrl) return createScratchDatabase(serverUrl, `tollgate_verify_${randomBytes(6).toString('hex')}`)
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-verify-')).catch((error: Error) => {
    throw new BackupFault(
      `No scratch database can be made in ${tmpdir()} (${error.message}): set TMPDIR to a folder with room for all data.`,
    )
  })
  const removeFolder = () => rm(folder, { recursive: true, force: true })
  try {
    const embedded = await startEmbedded(join(folder, 'data'), 'command')
    return {
      url: embedded.url,
      async remove() {
        await embedded.stop()
        await removeFolder()
      },
    }
  } catch (error) {
    await removeFolder()
    throw error
  }
}
