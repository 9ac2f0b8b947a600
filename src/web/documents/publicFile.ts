import { readdirSync, readFileSync } from 'node:fs'
import { bareCss } from './bareCss.ts'
import type { Document } from './documents.ts'

const types: Record<string, string> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  png: 'image/png',
  svg: 'image/svg+xml',
}

// A file of the checkout, as small as it can be sent before it is compressed.
export function ourFile(file: URL): Buffer {
  const bytes = readFileSync(file)
  return file.pathname.endsWith('.css') ? Buffer.from(bareCss(String(bytes))) : bytes
}

// The files of one folder, by the address under which each is served. They are read here, once: nothing else is served,
// and a gateway that has dropped root's rights may not be able to read them later.
export const publicFiles = (
  under: string,
  folder: URL,
  names: readonly string[] = readdirSync(folder),
  more: Partial<Document> = {},
): [path: string, Document][] =>
  names.map(name => {
    const bytes = (more.isPartOfCheckout ? ourFile : readFileSync)(new URL(name, folder))
    return [
      `${under}/${name}`,
      {
        route: `${under}/:file`,
        type: types[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream',
        isFile: true,
        make: () => bytes,
        ...more,
      },
    ]
  })
