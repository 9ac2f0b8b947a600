import { spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import type { DataFolder } from './folder/dataFolder.ts'
import { openLog } from './serverLog.ts'
import { mark } from './user.ts'

export type ChildProgram = {
  pid: number | undefined
  ended: Promise<string> // how it ended, in words
  tidied: Promise<void> // the folder of its socket is removed, or cannot be
  said(): string // what it and its children wrote to the log so far
  signal(signal: Signal): void // nothing when it has ended
  keepAwake(awake: boolean): void // whether Node waits for its end
}
export type Signal = 'SIGTERM' | 'SIGINT' | 'SIGQUIT' | 'SIGKILL'

// The program must not outlive us, however we die. A watcher, child of neither, reads a pipe whose other
// end only we hold: when it closes without the word "done", we are dead and the program is told to quit.
// The shell turns itself into the program, so that its process id is the one we know. The watcher runs as the user of
// the program. So it does what a gateway that has dropped root's rights may not do: it sends the program the signals
// that it reads from the pipe, and removes the folder of the socket when the program has ended.
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

// Programs find their data as /proc/self/cwd: that works even below a folder which they may not enter.
export const here = '/proc/self/cwd'

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
      detached: true, // Ctrl-C is for Tollgate alone, which finishes its work before it stops PostgreSQL
      stdio: ['ignore', 'ignore', log.file, 'pipe'],
    })
    const leash = child.stdio?.[3] as Socket | undefined // undefined if it could not be started
    let last: string | undefined // what it has said, once it has ended
    const ended = new Promise<string>(resolve => {
      child.once('error', error => resolve(error.message))
      child.once('exit', (code, signal) => resolve(signal ? `signal ${signal}` : `exit code ${code}`))
    }).then(how => {
      last = log.read()
      log.close()
      return how
    })
    return {
      pid: child.pid,
      ended,
      tidied: holdLeash(leash, ended),
      said: () => last ?? log.read(),
      signal(signal) {
        if (last !== undefined) return
        if (home.runAs) leash?.write(`${signal.slice('SIG'.length)}\n`)
        else child.kill(signal)
      },
      keepAwake: awake => (awake ? child.ref() : child.unref()),
    }
  } catch (error) {
    log.close()
    throw error
  } finally {
    closeSync(log.file)
  }
}

// Resolves when the watcher has ended: no other process has its end of the pipe.
function holdLeash(leash: Socket | undefined, ended: Promise<string>): Promise<void> {
  if (!leash) return Promise.resolve()
  leash.on('error', () => {}) // the watcher is gone
  leash.resume().unref()
  // Without this word the watcher could one day shoot a stranger who was given the same process id.
  void ended.then(() => leash.ref().end('done\n'))
  return new Promise(resolve => leash.once('close', () => resolve()))
}
