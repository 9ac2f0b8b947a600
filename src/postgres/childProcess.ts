import { spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import type { DataFolder } from './folder/dataFolder.ts'
import { openLog, readLog } from './serverLog.ts'
import { mark } from './user.ts'

export type ChildProgram = {
  pid: number | undefined
  ended: Promise<string> // how it ended, in words
  said(): string // what it and its children wrote to the log so far
  signal(signal: NodeJS.Signals): void // nothing when it has ended
  keepAwake(awake: boolean): void // whether Node waits for its end
}

// The program must not outlive us, however we die. A watcher, child of neither, reads a pipe whose other
// end only we hold: when it closes without the word "done", we are dead and the program is told to quit.
// The shell turns itself into the program, so that its process id is the one we know. Of what we would have
// tidied up, the folder of the socket remains, which is empty as soon as the program has ended.
const script = `( (
  trap '' HUP INT TERM; cd /; read -r word <&3; [ "$word" = done ] && exit
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
    const ended = new Promise<string>(resolve => {
      child.once('error', error => resolve(error.message))
      child.once('exit', (code, signal) => resolve(signal ? `signal ${signal}` : `exit code ${code}`))
    })
    const leash = child.stdio[3]
    if (leash instanceof Socket) holdLeash(leash, ended)
    return {
      pid: child.pid,
      ended,
      said: () => readLog(home, log.size),
      signal: signal => child.kill(signal),
      keepAwake: awake => (awake ? child.ref() : child.unref()),
    }
  } finally {
    closeSync(log.file)
  }
}

function holdLeash(leash: Socket, ended: Promise<string>) {
  leash.on('error', () => {}) // the watcher is gone
  leash.resume().unref()
  // Without this word the watcher could one day shoot a stranger who was given the same process id.
  void ended.then(() => leash.end('done\n'))
}
