import { Readable } from 'node:stream'
import type { Ctx } from '../http/context.ts'

// Streams a file while it is read, so that its size does not matter. If reading fails, the connection is closed without the
// end of the body, so that no browser takes the part for the whole.
export const sendCsv = (c: Ctx, name: string, lines: AsyncIterable<string>) =>
  c.body(Readable.toWeb(Readable.from(lines, { objectMode: false })) as ReadableStream<Uint8Array>, 200, {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="${name.replace(/[^\w.-]/g, '-')}"`,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  })
