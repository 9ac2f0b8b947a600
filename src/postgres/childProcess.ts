import { spawn } from 'node:child_process'
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
import type { Socket } from 'node:net'
import { join } from 'node:path'
import type { DataFolder } from './dataFolder.ts'
import { mark } from './user.ts'

export type ChildProgram = {
  pid: number | undefined
  ended: Promise<string> // its exit code or signal, as text
  cleanedUp: Promise<void> // the folder of its socket is removed, or cannot be
  output(): string // what it and its children have written to the log
  signal(signal: Signal): void // does nothing after it has ended
  holdProcess(hold: boolean): void // whether Node waits for its end
}
type Signal = 'SIGTERM' | 'SIGINT' | 'SIGQUIT' | 'SIGKILL'

// The program must end with this process, even if this process is killed. So a watcher, which is a child of neither, reads
// a pipe of which only this process has the other end. If the pipe closes without the word "done", this process is dead,
// and the watcher sends SIGQUIT to the program. The shell replaces itself by the program (exec), so that its process id is
// the child's. The watcher runs as the user of the program, so it can do what a gateway that has dropped root privileges
// cannot: it sends the program the signals that it reads from the pipe, and removes the folder of the socket at the end.
const script = `( (
  trap '' HUP INT TERM; cd /
  while read -r word <&3; do
    case $word in done) break;; TERM|INT|QUIT|KILL) kill -$word $$;; esac
  done
  if [ "$word" = done ]; then [ "$SOCKETS" ] && rm -f "$SOCKETS"/.s.PGSQL.* && rmdir "$SOCKETS"; exit; fi
  kill -QUIT $$; [ "$SOCKETS" ] || exit
  for second in 1 2 3 4 5 6 7 8 9; do rmdir "$SOCKETS" && exit; sleep 1; done
) >/dev/null 2>&1 & )
exec "$@" 3<&-`

// The path by which programs find their data: it works even below a folder that they may not enter. Without /proc (macOS)
// it is relative to the working directory, which is the same place.
export const here = process.platform === 'linux' ? '/proc/self/cwd' : '.'

export function run(
  home: DataFolder,
  name: 'initdb' | 'postgres',
  cwd: string,
  args: string[],
  env = {},
): ChildProgram {
  const log = openLog(home)
  try {
    const child = spawn('/bin/sh', ['-c', script, `tollgate-${name}`, join(home.bin, name), ...args], {
      cwd,
      ...home.runAs,
      env: { ...mark, PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC', ...env },
      detached: true, // Ctrl-C stops Tollgate only, which finishes its requests before it stops PostgreSQL
      stdio: ['ignore', 'ignore', log.file, 'pipe'],
    })
    const pipe = child.stdio?.[3] as Socket | undefined // undefined if the program could not be started
    let finalOutput: string | undefined // set when it has ended
    const ended = new Promise<string>(resolve => {
      child.once('error', error => resolve(error.message))
      child.once('exit', (code, signal) => resolve(signal ? `signal ${signal}` : `exit code ${code}`))
    }).then(how => {
      finalOutput = log.read()
      log.close()
      return how
    })
    return {
      pid: child.pid,
      ended,
      cleanedUp: holdPipe(pipe, ended),
      output: () => finalOutput ?? log.read(),
      signal(signal) {
        if (finalOutput !== undefined) return
        if (home.runAs) pipe?.write(`${signal.slice('SIG'.length)}\n`)
        else child.kill(signal)
      },
      holdProcess: hold => (hold ? child.ref() : child.unref()),
    }
  } catch (error) {
    log.close()
    throw error
  } finally {
    closeSync(log.file)
  }
}

// Resolves when the watcher has ended: no other process has its end of the pipe.
function holdPipe(pipe: Socket | undefined, ended: Promise<string>): Promise<void> {
  if (!pipe) return Promise.resolve()
  pipe.on('error', () => {}) // the watcher has ended
  pipe.resume().unref()
  // Without "done" the watcher could later signal an unrelated process that has got the same process id.
  void ended.then(() => pipe.ref().end('done\n'))
  return new Promise(resolve => pipe.once('close', () => resolve()))
}

const maxBytes = 10_000_000
const tailBytes = 64_000

type ServerLog = {
  file: number // the program writes to it
  read(): string // the end of what was written since the log was opened
  close(): void // read() fails afterwards
}

// PostgreSQL writes to the open file itself: there is no pipe that could fill up or break. The log is read by an open file,
// too, because a gateway that has dropped root privileges may not open it again.
function openLog({ log, dataDir }: DataFolder): ServerLog {
  const size = statSync(log, { throwIfNoEntry: false })?.size ?? 0
  if (size > maxBytes) renameSync(log, `${log}.1`)
  const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW } = constants
  const file = openSync(log, O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW, 0o600)
  // A command that root ran must not leave a log that the folder's owner cannot write to.
  const { uid, gid } = statSync(dataDir)
  if (process.getuid?.() === 0) fchownSync(file, uid, gid)
  const start = fstatSync(file).size
  const reader = openSync(log, 'r')
  return { file, read: () => tailOf(reader, start), close: () => closeSync(reader) }
}

function tailOf(file: number, from: number): string {
  const start = Math.max(from, fstatSync(file).size - tailBytes)
  const tail = Buffer.alloc(tailBytes)
  return tail.toString('utf8', 0, readSync(file, tail, 0, tailBytes, start))
}

// The line of the output with the cause. Later lines are about what ended because of it.
export function reasonIn(output: string): string | undefined {
  const lines = output.split('\n').filter(line => line.trim() !== '')
  const why = lines.find(line => /error: |(FATAL|PANIC): {2}(?!the database system|terminating)/.test(line))
  return (why ?? lines.at(-1))?.replace(/^.*?(error|FATAL|PANIC|LOG): +/, '')
}
