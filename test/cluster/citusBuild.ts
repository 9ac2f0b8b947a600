import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cacheFolder } from '../../src/postgres/binaries.ts'
import { type Report, UnavailableError } from './kind.ts'

const release = 'v13.2.2' // the last line that builds with PostgreSQL 15
const debian = '/usr/lib/postgresql/15'
const packages =
  'apt-get install build-essential postgresql-15 postgresql-server-dev-15 libicu-dev libkrb5-dev'
const bits = '-dev packages of liblz4, libpq, libssl, libxml2, libzstd and zlib1g'

const execute = promisify(execFile)
const manyBytes = 50_000_000

// The programs of Debian's PostgreSQL 15 with Citus, built once and kept beside the programs of the private PostgreSQL. They
// are a copy, because PostgreSQL 15 reads extensions only from its own folders, which it finds relative to its program.
export async function citusPrograms(report: Report): Promise<string> {
  const version = /\d+\.\d+/.exec(await output(join(debian, 'bin/pg_config'), ['--version']))?.[0]
  if (!version || !existsSync(join(debian, 'lib/pgxs/src/makefiles/pgxs.mk')))
    throw new UnavailableError(
      `Citus is built with the headers of PostgreSQL 15: ${packages}, and the ${bits}.`,
    )
  const made = join(cacheFolder(), `citus-${release}-postgres-${version}-${process.arch}`)
  if (!existsSync(made)) await build(made, report)
  return join(made, debian, 'bin')
}

const output = async (file: string, args: string[]) =>
  (await execute(file, args).catch(() => ({ stdout: '' }))).stdout

async function build(made: string, report: Report) {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-citus-'))
  const draft = mkdtempSync(`${made}.new-`)
  try {
    await takeSource(folder)
    report(`builds Citus ${release} once, which takes some minutes`)
    const make = (...args: string[]) => step(folder, 'make', [...args, 'with_llvm=no'])
    await step(folder, './configure', ['--without-libcurl', `PG_CONFIG=${join(debian, 'bin/pg_config')}`])
    fitHeaders(folder, await output(join(debian, 'bin/pg_config'), ['--includedir-server']))
    await make('-j2')
    for (const part of [debian, '/usr/share/postgresql/15'])
      cpSync(part, join(draft, part), { recursive: true, dereference: true, filter: isNeeded })
    await make('install', `DESTDIR=${draft}`)
    await step(folder, 'chmod', ['-R', 'a+rX,go-w', draft])
    renameSync(draft, made)
  } finally {
    rmSync(folder, { recursive: true, force: true })
    rmSync(draft, { recursive: true, force: true })
  }
}

const isNeeded = (path: string) => !/\/(man|bitcode|pgxs)$/.test(path)

// A clone with the tag of the release, or an unpacked release.
async function takeSource(folder: string) {
  const source = process.env.TOLLGATE_CITUS_SOURCE
  const todo = `Set TOLLGATE_CITUS_SOURCE to a clone of https://github.com/citusdata/citus with the tag ${release}, or to that release unpacked.`
  if (!source) throw new UnavailableError(`Citus is not here. ${todo}`)
  const archive = join(folder, 'citus.tar')
  const isClone = existsSync(join(source, '.git'))
  if (!isClone && !existsSync(join(source, 'configure')))
    throw new UnavailableError(`There is no source of Citus in ${source}. ${todo}`)
  if (isClone) {
    await execute('git', ['-C', source, 'archive', '-o', archive, release]).catch((error: Error) => {
      throw new UnavailableError(`${source}: ${error.message.trim()}. ${todo}`)
    })
    await step(folder, 'tar', ['-xf', archive])
    // A configure that is older than configure.ac would be generated again, by autoconf.
  } else cpSync(source, folder, { recursive: true, preserveTimestamps: true })
}

async function step(cwd: string, file: string, args: string[]) {
  try {
    await execute(file, args, { cwd, maxBuffer: manyBytes })
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    const why = /^.*error:.*$/m.exec(stderr + stdout)?.[0] ?? (error as Error).message.split('\n')[0]
    throw new UnavailableError(`Citus cannot be built: ${why}. It needs: ${packages}, and the ${bits}.`)
  }
}

// Later minor versions of PostgreSQL 15 export a function that this release of Citus defines by itself.
function fitHeaders(folder: string, headers: string) {
  const file = join(folder, 'src/include/pg_version_compat.h')
  const declared = readFileSync(join(headers.trim(), 'commands/dbcommands.h'), 'utf8')
  if (!declared.includes('extern bool have_createdb_privilege(void)')) return
  const own = /static inline bool\nhave_createdb_privilege\(void\)\n\{[^]*?\n\}\n/
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replace(own, 'extern bool have_createdb_privilege(void);\n'))
}
