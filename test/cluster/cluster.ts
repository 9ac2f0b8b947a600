// Databases of other kinds than the one in the tests, on loopback and for as long as this program runs.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { painter } from '../../src/cli/terminal.ts'
import { startCitus } from './citus.ts'
import { type Cluster, type Kind, type Report, UnavailableError } from './kind.ts'
import { startPatroni } from './patroni.ts'
import { startMajor } from './postgres.ts'

const postgresMajors = [15, 16, 17, 18] as const

const kinds: Record<string, Kind> = {
  ...Object.fromEntries(
    postgresMajors.map(major => [
      `pg${major}`,
      {
        about: `PostgreSQL ${major}, from the npm registry or from Debian's packages`,
        start: (report: Report) => startMajor(major, report),
      },
    ]),
  ),
  citus: {
    about: 'a Citus coordinator with two workers, built from TOLLGATE_CITUS_SOURCE',
    start: startCitus,
  },
  patroni: {
    about: "PostgreSQL 15 with a synchronous standby, by Patroni and etcd, from Debian's packages and PyPI",
    start: startPatroni,
  },
}

const paint = painter(process.stderr)
const say: Report = text => console.error(`${paint('dim', 'cluster:')} ${text}`)

const manual = `npm run cluster -- KIND            starts a database and prints its URL; Ctrl-C stops it
npm run cluster -- KIND COMMAND    runs a command with the URL in TEST_DATABASE_URL, then stops it
npm run cluster -- stop            stops those that run

${Object.entries(kinds)
  .map(([name, { about }]) => `${name.padEnd(8)}${about}`)
  .join('\n')}

With --or-skip before KIND, a database that cannot be had here is no error.`

// Returns the exit code: that of the command, if there is one.
export async function main(args: string[]): Promise<number> {
  const maySkip = args[0] === '--or-skip'
  const [name, ...command] = maySkip ? args.slice(1) : args
  if (name === 'stop') return stopAll()
  const kind = name === undefined ? undefined : kinds[name]
  if (!name || !kind) {
    console.error(name === undefined ? manual : `There is no kind "${name}".\n\n${manual}`)
    return name === undefined ? 0 : 2
  }
  const interrupted = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interrupted.abort())
  try {
    const cluster = await kind.start(say)
    try {
      return await use(name, cluster, command, interrupted)
    } finally {
      await cluster.stop()
      say('stopped')
    }
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error
    if (maySkip) console.error(`SKIPPED: nothing ran on ${name}: ${error.message}`)
    else console.error(error.message)
    return maySkip ? 0 : 1
  }
}

async function use(name: string, cluster: Cluster, command: string[], interrupted: AbortController) {
  if (interrupted.signal.aborted) return 130
  const stop = await listenForStop(name, () => interrupted.abort())
  const ended = cluster.ended.then(why => {
    console.error(`The database ended by itself: ${why}`)
    return 1
  })
  try {
    say(`${cluster.what} is ready`)
    if (command.length > 0) return await Promise.race([runWith(cluster, command, interrupted.signal), ended])
    for (const [variable, value] of Object.entries({ TEST_DATABASE_URL: cluster.url, ...cluster.env }))
      console.log(`export ${variable}='${value}'`)
    say('Ctrl-C stops it, and so does: npm run cluster -- stop')
    return await Promise.race([once(interrupted.signal, 'abort').then(() => 0), ended])
  } finally {
    stop()
  }
}

// The terminal sends Ctrl-C to the command as well.
async function runWith({ url, env }: Cluster, [file = '', ...args]: string[], stopped: AbortSignal) {
  const child = spawn(file, args, {
    stdio: 'inherit',
    env: { ...process.env, ...env, TEST_DATABASE_URL: url },
  })
  stopped.addEventListener('abort', () => child.kill('SIGTERM'))
  try {
    const [code] = await once(child, 'exit')
    return code ?? 1
  } catch (error) {
    console.error(`${file}: ${(error as Error).message}`)
    return 127
  }
}

// A socket per running cluster, which is how `stop` finds it: a process id could belong to another program by then.
const folder = join(tmpdir(), `tollgate-clusters-${process.getuid?.() ?? 0}`)

async function listenForStop(name: string, onStop: () => void) {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, `${name}-${process.pid}`)
  rmSync(path, { force: true })
  const server = createServer(socket => {
    socket.on('error', () => {}).unref() // closed by the end of this process
    onStop()
  })
  await once(server.listen(path), 'listening')
  server.unref()
  return () => rmSync(path, { force: true })
}

async function stopAll(): Promise<number> {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const names = readdirSync(folder)
  const stopped = await Promise.all(names.map(stopOne))
  for (const [at, name] of names.entries()) if (stopped[at]) say(`${name} is stopped`)
  if (!stopped.includes(true)) say('none is running')
  return 0
}

// The connection closes when the process has ended. Returns false if it had ended before.
async function stopOne(name: string): Promise<boolean> {
  const socket = connect(join(folder, name))
  try {
    await once(socket, 'connect')
    socket.resume()
    await once(socket, 'close')
    return true
  } catch {
    rmSync(join(folder, name), { force: true })
    return false
  }
}
