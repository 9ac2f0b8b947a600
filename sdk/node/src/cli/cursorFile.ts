import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Io } from './command.ts'
import { configFolder, type Credentials, writePrivateFile } from './credentials.ts'

export type CursorFile = { load(): Promise<string | undefined>; save(cursor: string): Promise<void> }

// Where `listen` continues after a restart. Each gateway, key and handler has its own place.
export function cursorFile(
  env: Io['env'],
  { baseUrl, merchantKey }: Pick<Credentials, 'baseUrl' | 'merchantKey'>,
  forwardTo = '',
): CursorFile {
  const name = createHash('sha256')
    .update(JSON.stringify([baseUrl, merchantKey, forwardTo]))
    .digest('hex')
  const path = join(configFolder(env), `listen-${name.slice(0, 16)}.json`)
  return {
    async load() {
      const text = await readFile(path, 'utf8').catch(() => '{}')
      const { cursor } = JSON.parse(text) as { cursor?: string }
      return cursor
    },
    save: cursor => writePrivateFile(path, JSON.stringify({ baseUrl, merchantKey, forwardTo, cursor })),
  }
}
