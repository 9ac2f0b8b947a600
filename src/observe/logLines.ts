import { write, writeSync } from 'node:fs'

const maxWaiting = 20_000 // lines, when nobody reads them; more are dropped and counted
const againAfterMs = 20

// Writes lines to a file descriptor. Those that come while a write is under way leave together in the next.
export function linesTo(fd: number) {
  let waiting: string[] = []
  let dropped = 0
  let writing = false

  function take(): Buffer {
    if (dropped > 0) waiting.push(`${JSON.stringify({ level: 'warn', dropped, msg: 'log lines dropped' })}\n`)
    const bytes = Buffer.from(waiting.join(''))
    waiting = []
    dropped = 0
    return bytes
  }

  function put(bytes: Buffer) {
    write(fd, bytes, (error, written) => {
      if (error?.code === 'EAGAIN') setTimeout(put, againAfterMs, bytes)
      else if (!error && written < bytes.length) put(bytes.subarray(written))
      else if (waiting.length > 0) put(take())
      else writing = false
    })
  }

  process.once('exit', () => {
    try {
      if (waiting.length > 0) writeSync(fd, take())
    } catch {
      // whoever read us is gone
    }
  })

  return {
    write(line: string) {
      if (waiting.length >= maxWaiting) {
        dropped++
        return
      }
      waiting.push(line)
      if (writing) return
      writing = true
      setImmediate(() => put(take()))
    },
  }
}
