import { readdirSync, readFileSync } from 'node:fs'
import type { Document } from './documents.ts'

const types: Record<string, string> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  png: 'image/png',
  svg: 'image/svg+xml',
}

// The files of one folder, by the address under which each is served. The list is made once: nothing else is.
export const publicFiles = (
  under: string,
  folder: URL,
  names: readonly string[] = readdirSync(folder),
  more: Partial<Document> = {},
): [path: string, Document][] =>
  names.map(name => [
    `${under}/${name}`,
    {
      route: `${under}/:file`,
      type: types[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream',
      isFile: true,
      make: () => readFileSync(new URL(name, folder)),
      ...more,
    },
  ])
