// (a) by pgbench, PostgreSQL's own load generator, where it is installed.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Starved } from '../load/starved.js'
import { summary } from '../report/figures.js'
import { cpuMs } from '../contenders/usage.js'
import { baseOf, straightConnections, straightStatement } from './straight.js'

const threads = 2
const connectMs = 400 // what it may take to open its connections; its own clock starts after that
const spareMs = 200 // so that it is still at work when the measuring ends

export function pgbenchVersion() {
  const { status, stdout } = spawnSync('pgbench', ['--version'], { encoding: 'utf8' })
  return status === 0 ? (/\d+(\.\d+)*/.exec(stdout)?.[0] ?? 'unknown') : undefined
}

export async function runPgbench(job, folder, onMeasuring, onMeasured) {
  const work = mkdtempSync(join(folder, 'pgbench-'))
  try {
    const script = join(work, 'script.sql')
    writeFileSync(script, scriptFor(job))
    const seconds = Math.ceil((connectMs + job.warmMs + job.measureMs + spareMs) / 1000)
    const login = loginOf(job.url)
    const child = spawn('pgbench', flags(login, script, join(work, 'log'), seconds), {
      env: { PATH: process.env.PATH, ...login.env },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let said = ''
    child.stderr.on('data', chunk => (said += chunk))
    const ended = once(child, 'exit')
    await sleep(connectMs + job.warmMs)
    const from = Date.now()
    const cpuBefore = cpuMs(child.pid)
    onMeasuring()
    await sleep(job.measureMs)
    const until = Date.now()
    onMeasured()
    const cpuUsedMs = cpuMs(child.pid) - cpuBefore
    const [code] = await ended
    if (code !== 0) throw new Starved(`pgbench ended with ${code}: ${said}`)
    return { ...summary(readLatencies(work, from, until), until - from), cpuMs: cpuUsedMs }
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

// The password goes by the environment: every user of the machine can read the flags of a program.
export function loginOf(url) {
  const { searchParams, pathname, username, password } = new URL(url.replace('@/', '@localhost/'))
  return {
    flags: [
      '-h',
      searchParams.get('host'),
      '-p',
      searchParams.get('port'),
      '-U',
      decodeURIComponent(username),
    ],
    name: pathname.slice(1),
    env: { PGPASSWORD: decodeURIComponent(password), PGSSLMODE: 'disable' },
  }
}

function flags(login, script, log, seconds) {
  const load = ['-c', straightConnections, '-j', threads, '-T', seconds, '-M', 'prepared', '-n', '-f', script]
  return [...login.flags, ...load, '-l', `--log-prefix=${log}`, '-D', 'i=0', login.name].map(String)
}

function scriptFor({ kind, merchant, series, stored }) {
  const variables =
    kind === 'status'
      ? [`\\set n random(1, ${stored})`]
      : [
          '\\set i :i + 1',
          `\\set key ${baseOf(series)} + :client_id * 1000000000 + :i`,
          '\\set tail random(1000000000000, 9999999999999)',
        ]
  const statement = straightStatement(kind, merchant, {
    key: ':key::text',
    tail: ':tail::text',
    n: ':n::text',
  })
  return `${variables.join('\n')}\n${statement};\n`
}

// A line per statement: connection, number, microseconds, script, and when it ended in seconds and
// microseconds. What ended before or after the measuring is left out, as it is for the gateway.
function* readLatencies(work, from, until) {
  for (const name of readdirSync(work).filter(file => file.startsWith('log'))) {
    for (const line of readFileSync(join(work, name), 'latin1').split('\n')) {
      const [, , tookUs, , second, microsecond] = line.split(' ').map(Number)
      const endedAt = second * 1000 + microsecond / 1000
      if (endedAt >= from && endedAt < until) yield tookUs / 1000
    }
  }
}
