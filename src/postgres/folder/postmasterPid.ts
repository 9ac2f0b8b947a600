import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from '../error.ts'

// Who has the database files, as PostgreSQL itself wrote it down.
export type Postmaster = {
  pid: number
  alive: boolean // false: the note was left behind by a crash
  ready: boolean
  sockets: string // the folder with its socket
}

export function readPostmaster(cluster: string): Postmaster | undefined {
  const [pid = '', , , , sockets = '', , , status = ''] = readNote(cluster).split('\n')
  if (!/^\d+$/.test(pid)) return undefined
  const alive = worksIn(cluster, Number(pid))
  // A socket in somebody else's folder is not spoken to.
  const ready = alive && status.trim() === 'ready' && ownerOf(sockets) === ownerOf(cluster)
  return { pid: Number(pid), alive, ready, sockets }
}

function readNote(cluster: string): string {
  try {
    return readFileSync(join(cluster, 'postmaster.pid'), 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return ''
    throw error
  }
}

// After a crash the process id in the note may belong to a stranger; a server works in its own folder.
function worksIn(cluster: string, pid: number): boolean {
  try {
    const [there, here] = [statSync(`/proc/${pid}/cwd`), statSync(cluster)]
    return there.ino === here.ino && there.dev === here.dev
  } catch (error) {
    // Root in a container may not look into processes of other users; their names are public.
    return codeOf(error) === 'EACCES' && nameOf(pid) === 'postgres'
  }
}

function nameOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
  } catch {
    return ''
  }
}

const ownerOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.uid

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}
