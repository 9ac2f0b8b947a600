import { execFileSync } from 'node:child_process'
import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from './error.ts'

// The server that has the database files, from its lock file postmaster.pid.
export type Postmaster = {
  pid: number
  alive: boolean // false: the file is left over from a crash
  ready: boolean
  sockets: string // the folder with its socket
}

// Returns whether the server is ready, until it ends. The server rewrites the file in place, so it can be read by an open
// file: a gateway that has dropped root privileges may not enter the cluster.
export function watchReadiness(cluster: string, ended: Promise<unknown>): () => boolean {
  const file = openSync(join(cluster, 'postmaster.pid'), 'r')
  let isOpen = true
  void ended.then(() => {
    isOpen = false
    closeSync(file)
  })
  return () => {
    if (!isOpen) return false
    const text = Buffer.alloc(maxBytes)
    return statusIn(text.toString('utf8', 0, readSync(file, text, 0, maxBytes, 0))) === 'ready'
  }
}

const maxBytes = 4096
const statusIn = (text: string) => text.split('\n')[7]?.trim()

export function readPostmaster(cluster: string): Postmaster | undefined {
  const text = readLockFile(cluster)
  const [pid = '', , , , sockets = ''] = text.split('\n')
  if (!/^\d+$/.test(pid)) return undefined
  const alive = isServerOf(cluster, Number(pid))
  // A socket in a folder of another user is not trusted.
  const ready = alive && statusIn(text) === 'ready' && ownerOf(sockets) === ownerOf(cluster)
  return { pid: Number(pid), alive, ready, sockets }
}

function readLockFile(cluster: string): string {
  try {
    return readFileSync(join(cluster, 'postmaster.pid'), 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return ''
    throw error
  }
}

// After a crash, the process id may be that of another program. The working directory of a server is its cluster.
function isServerOf(cluster: string, pid: number): boolean {
  if (process.platform !== 'linux') return isAlive(pid) && commandOf(pid).endsWith('postgres')
  try {
    const [there, here] = [statSync(`/proc/${pid}/cwd`), statSync(cluster)]
    return there.ino === here.ino && there.dev === here.dev
  } catch (error) {
    // Root in a container may not read the directory of other users' processes, but their names are public.
    return codeOf(error) === 'EACCES' && nameOf(pid) === 'postgres'
  }
}

// Without /proc (macOS). A server of another folder counts too, which is safe: the start waits and then refuses.
function commandOf(pid: number): string {
  try {
    return execFileSync('ps', ['-o', 'comm=', '-p', String(pid)], { encoding: 'utf8' }).trim()
  } catch {
    return '' // it has ended
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
