import type { Failure } from './failure.ts'
import { painter } from './terminal.ts'

// What a command found out: as data for programs, as text for people.
export type Output = { data: unknown; text: string }

export type Cli = { json: boolean; print(answer: Output): void }

// JSON escapes what a terminal obeys only in part. Read as JSON, this is the same.
const asJson = (data: unknown) =>
  JSON.stringify(data).replace(
    /[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
    char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

export const createCli = (json: boolean): Cli => ({
  json,
  print: ({ data, text }) => void process.stdout.write(`${json ? asJson(data) : text}\n`),
})

export function printFailure(json: boolean, { code, message, faults, shown, data, stack }: Failure) {
  const paint = painter(process.stderr)
  const lines = [paint('red', message), ...faults.map(fault => `  ${fault}`), shown, stack]
  // A program may read the message alone, so it tells the faults as well.
  const whole = faults.length > 0 ? `${message} ${faults.join('; ')}` : message
  const error = { code, message: whole, ...(faults.length > 0 && { faults }), ...data, stack }
  const text = lines.filter(line => line !== undefined).join('\n')
  process.stderr.write(`${json ? asJson({ error }) : text}\n`)
}
