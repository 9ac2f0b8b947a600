import assert from 'node:assert/strict'
import { chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { here, run } from '../../src/postgres/childProcess.ts'
import { type DataFolder, openDataFolder } from '../../src/postgres/folder/dataFolder.ts'
import { stopProgram } from '../../src/postgres/server.ts'
import { openDb } from '../../src/store/db.ts'
import { migrationNames } from '../../src/store/migrate/ledger.ts'
import { migrate } from '../../src/store/migrate/migrate.ts'
import { query } from './database.ts'
import { onlyThese } from './migrations.ts'
import { isRoot, nobody } from './stranger.ts'

export type FormerServer = { url: string; stop(): Promise<void> }

// A data folder as the first version made it: whoever gets to the socket is let in, the one role is the superuser and
// owns everything, the files are nobody's when root started it, and the schema has come only so far.
export async function makeFormerData(dataDir: string, fill: (url: string) => Promise<void>) {
  const home = formerHome(dataDir)
  mkdirSync(home.cluster, { mode: 0o700 })
  if (home.runAs) chownSync(home.cluster, home.runAs.uid, home.runAs.gid)
  const flags = ['-U', 'tollgate', '--auth=trust', '-E', 'UTF8', '--locale=C']
  const initdb = run(home, 'initdb', home.cluster, ['-D', here, ...flags])
  assert.equal(await initdb.ended, 'exit code 0')
  const server = await startFormer(dataDir)
  await query(server.url.replace('/tollgate?', '/postgres?'), 'create database tollgate')
  const db = openDb(server.url, 1)
  await migrate(db, { folder: onlyThese(migrationNames().former.slice(0, 38)) })
  await db.end()
  await fill(server.url)
  await server.stop()
}

export async function startFormer(dataDir: string): Promise<FormerServer> {
  const home = formerHome(dataDir)
  const sockets = mkdtempSync('/tmp/tollgate-')
  if (home.runAs) chownSync(sockets, home.runAs.uid, home.runAs.gid)
  const program = run(home, 'postgres', home.cluster, ['-D', here, '-k', sockets, '-c', 'listen_addresses='])
  const url = `postgres://tollgate@/tollgate?host=${encodeURIComponent(sockets)}&port=5432&sslmode=disable`
  const answers = () => query(url.replace('/tollgate?', '/postgres?'), 'select 1').catch(() => [])
  while ((await answers()).length === 0) await sleep(50)
  return {
    url,
    stop: async () => {
      await stopProgram(program, 0)
      rmSync(sockets, { recursive: true, force: true })
    },
  }
}

function formerHome(dataDir: string): DataFolder {
  const home = { ...openDataFolder(dataDir), runAs: isRoot ? nobody : undefined }
  rmSync(join(dataDir, 'postgres.pgpass'))
  return home
}
