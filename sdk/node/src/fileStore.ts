import { createHash, randomUUID } from 'node:crypto'
import { link, mkdir, open, readdir, readFile, rename, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { NotificationStore } from './store.ts'

type Claim = { key: string; owner: string; until: number }

/**
 * A store in a folder, for one machine: several processes may share it, and it survives a crash. Each key has a folder
 * of its own in it. The gateway delivers for a day, so folders older than a month can be deleted.
 *
 * @example
 * const store = fileStore('./data/notifications')
 */
export function fileStore(folder: string): NotificationStore {
  // A hash, because a key may contain a slash, and some file systems ignore letter case.
  async function folderOf(key: string): Promise<string> {
    const claims = join(folder, createHash('sha256').update(key).digest('hex'))
    const isNew = await mkdir(claims, { recursive: true })
    if (isNew !== undefined) await syncFolder(folder)
    return claims
  }
  return {
    async claim(key, owner, leaseMs) {
      const claims = await folderOf(key)
      const latest = await latestClaim(claims)
      if (latest === 'done') return 'done'
      if (latest.until > Date.now()) return 'busy'
      const claim = { key, owner, until: Date.now() + leaseMs }
      if (!(await createFile(claims, `claim-${latest.number + 1}`, claim))) return 'busy'
      // The owner of an expired claim may have completed it in the meantime.
      return (await latestClaim(claims)) === 'done' ? 'done' : 'claimed'
    },
    async complete(key, owner) {
      const claims = await folderOf(key)
      await replaceFile(claims, 'done', { key, owner, until: 0 })
    },
    async release(key, owner) {
      const claims = await folderOf(key)
      const latest = await latestClaim(claims)
      if (latest !== 'done' && latest.owner === owner)
        await replaceFile(claims, `claim-${latest.number}`, { key, owner, until: 0 })
    },
  }
}

// Claims are numbered files that are never removed. To take over an expired claim is to create the next number, which
// only one process can do.
async function latestClaim(
  folder: string,
): Promise<'done' | (Partial<Claim> & { number: number; until: number })> {
  const names = await readdir(folder)
  if (names.includes('done')) return 'done'
  const number = Math.max(0, ...names.map(name => Number(/^claim-(\d+)$/.exec(name)?.[1] ?? 0)))
  if (number === 0) return { number, until: 0 }
  return { ...(JSON.parse(await readFile(join(folder, `claim-${number}`), 'utf8')) as Claim), number }
}

// Creates a complete file, or returns false if it exists: a link appears with its content or not at all.
async function createFile(folder: string, name: string, claim: Claim): Promise<boolean> {
  const draft = await writeDraft(folder, claim)
  try {
    await link(draft, join(folder, name))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  } finally {
    await unlink(draft)
  }
  await syncFolder(folder)
  return true
}

async function replaceFile(folder: string, name: string, claim: Claim) {
  await rename(await writeDraft(folder, claim), join(folder, name))
  await syncFolder(folder)
}

async function writeDraft(folder: string, claim: Claim): Promise<string> {
  const draft = join(folder, `draft-${randomUUID()}`)
  const file = await open(draft, 'wx')
  try {
    await file.writeFile(JSON.stringify(claim))
    await file.sync()
  } finally {
    await file.close()
  }
  return draft
}

// The names in a folder survive a power cut only if the folder is synced too. Windows cannot open a folder.
async function syncFolder(folder: string) {
  if (process.platform === 'win32') return
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
