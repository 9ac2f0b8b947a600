import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { appendFileSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ChildProgram, here, run } from '../../../src/postgres/childProcess.ts'
import { openDataFolder } from '../../../src/postgres/dataFolder.ts'
import { startEmbedded } from '../../../src/postgres/embedded.ts'
import { stopProgram } from '../../../src/postgres/server.ts'
import { query } from './database.ts'

// A real PostgreSQL on the files of a data folder, as an operator runs his own.
export type OwnServer = {
  dataDir: string
  sockets: string
  url: string
  program: ChildProgram
  restart(...settings: string[]): Promise<void>
  stop(): Promise<void>
}

// Its own rules let every user of the machine in, also a standby, by the folder of its socket.
export async function startServer(dataDir: string, env: Record<string, string> = {}): Promise<OwnServer> {
  const home = openDataFolder(dataDir)
  const rules = 'local all all trust\nlocal replication all trust\n'
  writeFileSync(join(dataDir, 'postgres', 'pg_hba.conf'), rules)
  const sockets = mkdtempSync('/tmp/tollgate-')
  if (home.runAs) chownSync(sockets, home.runAs.uid, home.runAs.gid)
  const url = `postgres://tollgate@/tollgate?host=${encodeURIComponent(sockets)}&port=5432&sslmode=disable`
  const start = async (settings: readonly string[]) => {
    const args = ['-D', here, '-k', sockets, '-c', 'listen_addresses=', ...settings]
    const program = run(home, 'postgres', home.cluster, args, env)
    try {
      await until('the server answers', () => query(url, 'select 1'))
    } catch (error) {
      await stopProgram(program, 0)
      throw error
    }
    return program
  }
  const server: OwnServer = {
    dataDir,
    sockets,
    url,
    program: await start([]),
    async restart(...settings) {
      server.program = await start(settings)
    },
    async stop() {
      await stopProgram(server.program, 0)
      rmSync(sockets, { recursive: true, force: true })
    },
  }
  return server
}

// A primary and a standby that follows it. No commit is answered before both have it.
export async function startPair(base: string): Promise<{ primary: OwnServer; standby: OwnServer }> {
  const [one, other] = [join(base, 'one'), join(base, 'other')]
  await (await startEmbedded(one, 'command')).stop()
  execFileSync('cp', ['-a', one, other])
  const primary = await startServer(one)
  writeFileSync(join(other, 'postgres', 'standby.signal'), '')
  const follow = `primary_conninfo = 'host=${primary.sockets} port=5432 user=tollgate'\n`
  appendFileSync(join(other, 'postgres', 'postgresql.auto.conf'), follow)
  const standby = await startServer(other)
  await query(primary.url, `alter system set synchronous_standby_names = '*'`)
  await query(primary.url, 'select pg_reload_conf()')
  return { primary, standby }
}

export async function until(what: string, ask: () => Promise<unknown[]>) {
  for (const deadline = performance.now() + 20_000; performance.now() < deadline; await sleep(50))
    if ((await ask().catch(() => [])).length > 0) return
  assert.fail(`not within 20 seconds: ${what}`)
}
