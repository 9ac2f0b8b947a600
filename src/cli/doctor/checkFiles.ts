import { existsSync, readFileSync, statfsSync, statSync } from 'node:fs'
import { type Config, settingFiles } from '../../config.ts'
import { type Check, checkOk, checkWarning, firstFew } from './check.ts'

const tmpfs = 0x01021994
const enoughFiles = 4096 // a gateway accepts up to 10,000 connections, and each is an open file
const readableByOthers = 0o004

// Files with secrets that every user of this machine may read: those of settings (NAME_FILE) and the key of a client
// certificate. Files in memory are those of systemd, Docker and Kubernetes, which restrict access in their own way.
export function checkSecretFiles(config: Config): Check | undefined {
  const files = [...settingFiles(), ...clientKeys(config)]
  if (files.length === 0) return undefined
  const open = files.filter(({ path }) => isOpenToAll(path))
  const [first] = open
  if (!first) return checkOk('secret files', 'no other user may read them')
  return checkWarning(
    'secret files',
    `every user of this machine may read ${firstFew(open.map(({ name, path }) => `${path} (${name})`))}`,
    `Run: chmod o-rwx ${first.path}`,
  )
}

const clientKeys = ({ DATABASE_URL, TOLLGATE_DIRECT_DATABASE_URL }: Config) =>
  [DATABASE_URL, TOLLGATE_DIRECT_DATABASE_URL].flatMap(url => {
    const key = url && /[?&]sslkey=([^&]+)/.exec(url)?.[1]
    return key ? [{ name: 'sslkey', path: decodeURIComponent(key) }] : []
  })

function isOpenToAll(path: string): boolean {
  if (path.startsWith('/run/') || !existsSync(path) || statfsSync(path).type === tmpfs) return false
  const { mode } = statSync(path)
  return (mode & readableByOthers) !== 0
}

// Of a process that is started here, as Node has raised it. No result where the system does not tell.
export function checkOpenFiles(limits = '/proc/self/limits'): Check | undefined {
  const most =
    existsSync(limits) && /^Max open files +(\d+|unlimited)/m.exec(readFileSync(limits, 'utf8'))?.[1]
  if (!most) return undefined
  if (most === 'unlimited' || Number(most) >= enoughFiles) return checkOk('open files', `up to ${most}`)
  return checkWarning(
    'open files',
    `up to ${most}: with more connections, a gateway that is started like this accepts no others`,
    `Raise the limit to ${enoughFiles} or more: LimitNOFILE= of a systemd unit, ulimit -n of a shell.`,
  )
}
