import { mkdir, open, readFile, rename, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { CommandError, type Io } from './command.ts'
import { variables } from './explain.ts'

export type Credentials = {
  baseUrl: string
  merchantKey: string
  merchantSecret: string
  ipnSecret?: string | undefined
}

type Env = Io['env']

// The folder of the credentials and of the cursors of `listen`.
export const configFolder = (env: Env): string =>
  join(env.XDG_CONFIG_HOME || join(env.HOME || homedir(), '.config'), 'tollgate')

export const credentialsFile = (env: Env): string => join(configFolder(env), 'merchant.json')

// The environment first, then the file. A secret of the file belongs to the key of the file, so it is not used with
// another key.
export async function readCredentials(env: Env): Promise<Partial<Credentials>> {
  const given: Partial<Credentials> = {}
  for (const [name, variable] of Object.entries(variables))
    if (env[variable]) given[name as keyof Credentials] = env[variable].trim()
  if (given.baseUrl && given.merchantKey && given.merchantSecret && given.ipnSecret) return given
  const stored = await readFileOfCredentials(credentialsFile(env))
  const isOther = given.merchantKey !== undefined && given.merchantKey !== stored?.merchantKey
  return isOther ? given : { ...stored, ...given }
}

export async function loadCredentials(env: Env, needsIpnSecret = false): Promise<Credentials> {
  const { baseUrl, merchantKey, merchantSecret, ipnSecret } = await readCredentials(env)
  const missing = Object.entries({
    baseUrl,
    merchantKey,
    merchantSecret,
    ...(needsIpnSecret && { ipnSecret }),
  })
    .filter(([, value]) => !value)
    .map(([name]) => variables[name as keyof Credentials])
  if (baseUrl && merchantKey && merchantSecret && missing.length === 0)
    return { baseUrl: baseUrl.replace(/\/+$/, ''), merchantKey, merchantSecret, ipnSecret }
  throw new CommandError(
    `${missing.join(', ')}: not set. Set them in the environment, or run \`login\` once. Your operator has the keys; on ` +
      'your own machine `npm start` prints those of the demo merchant at its first start.',
  )
}

async function readFileOfCredentials(path: string): Promise<Partial<Credentials> | undefined> {
  const found = await stat(path).catch(() => undefined)
  if (!found) return undefined
  if (process.platform !== 'win32') {
    if ((found.mode & 0o077) !== 0)
      throw new CommandError(
        `${path} can be read by other users of this machine, so its secrets are not used. Run: chmod 600 '${path}'. If ` +
          'others may have read it, ask your operator for new secrets.',
      )
    if (found.uid !== process.getuid?.())
      throw new CommandError(
        `${path} belongs to another user, so it is not used. Remove it, and run \`login\`.`,
      )
  }
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Partial<Credentials>
  } catch {
    throw new CommandError(`${path} cannot be read. Run \`login\` to write it again.`)
  }
}

export async function storeCredentials(env: Env, credentials: Credentials): Promise<string> {
  const path = credentialsFile(env)
  await writePrivateFile(path, `${JSON.stringify(credentials, undefined, 2)}\n`)
  return path
}

// The file is complete or unchanged, and only its owner can read it from the first moment. It survives the end of the
// process, not a power cut: to sync it after each event would be the slowest part of `listen`.
export async function writePrivateFile(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${process.pid}`
  const file = await open(draft, 'w', 0o600)
  try {
    await file.chmod(0o600)
    await file.writeFile(text)
  } finally {
    await file.close()
  }
  await rename(draft, path)
}
