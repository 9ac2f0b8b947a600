import {
  closeSync,
  constants,
  fchownSync,
  fstatSync,
  openSync,
  readSync,
  renameSync,
  statSync,
} from 'node:fs'
import type { DataFolder } from './folder/dataFolder.ts'

const maxBytes = 10_000_000
const tailBytes = 64_000

export type ServerLog = {
  file: number // for the program that writes
  read(): string // what was written since the log was opened, or the end of it
  close(): void // read() is no longer possible
}

// PostgreSQL writes here by itself, through the open file it is given: no pipe that could fill or break. The log is
// read through an open file, too: a gateway that has dropped root's rights may not open it again.
export function openLog({ log, dataDir }: DataFolder): ServerLog {
  const found = statSync(log, { throwIfNoEntry: false })
  if (found && found.size > maxBytes) renameSync(log, `${log}.1`)
  const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW } = constants
  const file = openSync(log, O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW, 0o600)
  // A command that root ran must not leave a log that the folder's owner cannot write to.
  const { uid, gid } = statSync(dataDir)
  if (process.getuid?.() === 0) fchownSync(file, uid, gid)
  const { size } = fstatSync(file)
  const reader = openSync(log, 'r')
  return { file, read: () => tailOf(reader, size), close: () => closeSync(reader) }
}

function tailOf(file: number, from: number): string {
  const start = Math.max(from, fstatSync(file).size - tailBytes)
  const tail = Buffer.alloc(tailBytes)
  return tail.toString('utf8', 0, readSync(file, tail, 0, tailBytes, start))
}

// The line that says why. Those after it only tell what else ended because of it.
export function reasonIn(said: string): string | undefined {
  const lines = said.split('\n').filter(line => line.trim() !== '')
  const why = lines.find(line => /error: |(FATAL|PANIC): {2}(?!the database system|terminating)/.test(line))
  return (why ?? lines.at(-1))?.replace(/^.*?(error|FATAL|PANIC|LOG): +/, '')
}
