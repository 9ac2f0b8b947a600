import { readFileSync } from 'node:fs'
import { readdirSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { answerNotFound } from './errors.ts'
import type { Ctx } from './context.ts'

const types: Record<string, string> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  png: 'image/png',
}

// Serves the files of one folder, read and compressed once. The folder is the list: nothing else is served.
export function publicFile(folder: URL, only?: readonly string[]) {
  const files = new Map<string, { type: string; plain: Buffer; gzip: Buffer }>()
  for (const name of only ?? readdirSync(folder)) {
    const plain = readFileSync(new URL(name, folder))
    const type = types[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream'
    files.set(name, { type, plain, gzip: gzipSync(plain) })
  }
  return (c: Ctx) => {
    const file = files.get(c.req.param('file') ?? '')
    if (!file) return answerNotFound(c)
    const zipped = c.req.header('accept-encoding')?.includes('gzip') ?? false
    c.header('content-type', file.type)
    c.header('cache-control', 'public, max-age=3600')
    c.header('vary', 'accept-encoding')
    c.header('x-content-type-options', 'nosniff')
    if (zipped) c.header('content-encoding', 'gzip')
    return c.body(new Uint8Array(zipped ? file.gzip : file.plain))
  }
}
