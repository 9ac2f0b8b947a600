import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from '../error.ts'

// Who has the database files, as PostgreSQL itself wrote it down.
export type Postmaster = {
  pid: number
  alive: boolean // false: the note was left behind by a crash
  ready: boolean
  sockets: string // the folder with its socket
}

// Whether the server that wrote the note says that it is ready, as long as it runs. The note is written in place, so it
// is read through a file that stays open: a gateway that has dropped root's rights may not enter the cluster.
export function watchReadiness(cluster: string, ended: Promise<unknown>): () => boolean {
  const note = openSync(join(cluster, 'postmaster.pid'), 'r')
  let isOpen = true
  void ended.then(() => {
    isOpen = false
    closeSync(note)
  })
  return () => {
    if (!isOpen) return false
    const text = Buffer.alloc(noteBytes)
    return statusIn(text.toString('utf8', 0, readSync(note, text, 0, noteBytes, 0))) === 'ready'
  }
}

const noteBytes = 4096
const statusIn = (note: string) => note.split('\n')[7]?.trim()

export function readPostmaster(cluster: string): Postmaster | undefined {
  const note = readNote(cluster)
  const [pid = '', , , , sockets = ''] = note.split('\n')
  if (!/^\d+$/.test(pid)) return undefined
  const alive = worksIn(cluster, Number(pid))
  // A socket in somebody else's folder is not spoken to.
  const ready = alive && statusIn(note) === 'ready' && ownerOf(sockets) === ownerOf(cluster)
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
