import { Readable } from 'node:stream'
import type { Ctx } from '../http/context.ts'

export const sendCsv = (c: Ctx, name: string, lines: AsyncIterable<string>) =>
  sendFile(c, { name, type: 'text/csv; charset=utf-8' }, lines)

// Streams a file while it is made, so that its size does not matter. If making it fails, the connection is closed without
// the end of the body, so that no browser takes the part for the whole.
export const sendFile = (
  c: Ctx,
  { name, type }: { name: string; type: string },
  parts: AsyncIterable<string>,
) =>
  c.body(Readable.toWeb(Readable.from(parts, { objectMode: false })) as ReadableStream<Uint8Array>, 200, {
    'content-type': type,
    'content-disposition': `attachment; filename="${name.replace(/[^\w.-]/g, '-')}"`,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  })
