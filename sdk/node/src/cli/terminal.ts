import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { CommandError, type Io } from './command.ts'

// The terminal of this process. The first Ctrl+C ends the command in order, the second at once.
export function processIo(): Io {
  const stop = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort())
  process.stdout.on('error', () => stop.abort()) // the reader of a pipe has ended
  return {
    env: process.env,
    out: line => void process.stdout.write(`${line}\n`),
    error: line => void process.stderr.write(`${line}\n`),
    isTerminal: process.stdout.isTTY && !process.env.NO_COLOR,
    ask,
    signal: stop.signal,
  }
}

// A terminal echoes what is typed, so for a secret the output of the line editor is discarded. Without a terminal the
// answers are the lines of the input.
async function ask(question: string, isHidden = false): Promise<string> {
  if (!process.stdin.isTTY) return nextLine()
  process.stderr.write(question)
  const output = isHidden ? new Writable({ write: (_chunk, _encoding, done) => done() }) : process.stderr
  const reader = createInterface({ input: process.stdin, output, terminal: true, historySize: 0 })
  const ended = new Promise<never>((_, reject) =>
    reader.once('SIGINT', () => reject(new CommandError('Nothing was stored.'))),
  )
  try {
    return (await Promise.race([reader.question(''), ended])).trim()
  } finally {
    reader.close()
    if (isHidden) process.stderr.write('\n')
  }
}

let lines: AsyncIterator<string> | undefined

async function nextLine(): Promise<string> {
  lines ??= createInterface({ input: process.stdin })[Symbol.asyncIterator]()
  const { value, done } = await lines.next()
  if (done) throw new CommandError('The input ended before every question was answered.')
  return value.trim()
}
