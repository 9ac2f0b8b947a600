import { damaged } from './fault.ts'

// Takes bytes from a stream in the lengths that a format asks for.
export type ByteReader = {
  take(bytes: number): Promise<Buffer> // throws if there are fewer
  takeUpTo(bytes: number): Promise<Buffer>
  isAtEnd(): Promise<boolean>
}

export function readBytes(source: AsyncIterable<Buffer>): ByteReader {
  const chunks = source[Symbol.asyncIterator]()
  let waiting: Buffer[] = []
  let held = 0

  async function fill(bytes: number) {
    while (held < bytes) {
      const { done, value } = await chunks.next()
      if (done) return
      waiting.push(value)
      held += value.length
    }
  }

  async function takeUpTo(bytes: number): Promise<Buffer> {
    await fill(bytes)
    const all = waiting.length === 1 ? (waiting[0] as Buffer) : Buffer.concat(waiting)
    waiting = all.length > bytes ? [all.subarray(bytes)] : []
    held = Math.max(0, all.length - bytes)
    return all.subarray(0, bytes)
  }

  return {
    takeUpTo,
    async take(bytes) {
      const taken = await takeUpTo(bytes)
      if (taken.length < bytes) throw damaged('it ends too early')
      return taken
    },
    async isAtEnd() {
      await fill(1)
      return held === 0
    },
  }
}
