import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { type Ctx, respond } from './context.ts'
import { notFoundAnswer } from './errors.ts'

const types: Record<string, string> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  png: 'image/png',
  svg: 'image/svg+xml',
}

type PublicFile = { plain: Buffer; gzip: Buffer; digest: string }

export const digestOf = (bytes: Buffer) => hash('sha256', bytes, 'hex').slice(0, 10)

// Serves the files of one folder, each read and compressed when it is first asked for. The list is made once:
// nothing else is served.
export function publicFile(folder: URL, names: readonly string[] = readdirSync(folder)) {
  const files = new Map<string, PublicFile>()

  function fileOf(name: string): PublicFile | undefined {
    if (!names.includes(name)) return undefined
    if (!files.has(name)) {
      const plain = readFileSync(new URL(name, folder))
      files.set(name, { plain, gzip: gzipSync(plain, { level: 9 }), digest: digestOf(plain) })
    }
    return files.get(name)
  }

  return (c: Ctx) => {
    const name = c.req.param('file') ?? ''
    const file = fileOf(name)
    if (!file) return respond(c, notFoundAnswer(c.get('requestId')))
    const zipped = c.req.header('accept-encoding')?.includes('gzip') ?? false
    c.header('content-type', types[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream')
    // An address that names what the file holds never changes its meaning.
    const forGood = c.req.query('v') === file.digest
    c.header('cache-control', forGood ? 'public, max-age=31536000, immutable' : 'public, max-age=3600')
    c.header('vary', 'accept-encoding')
    c.header('x-content-type-options', 'nosniff')
    if (zipped) c.header('content-encoding', 'gzip')
    return c.body(new Uint8Array(zipped ? file.gzip : file.plain))
  }
}
