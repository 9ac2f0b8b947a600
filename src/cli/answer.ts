import type { Failure } from './failure.ts'
import { painter } from './terminal.ts'

// What a command found out: as data for programs, as text for people.
export type Answer = { data: unknown; text: string }

export type Cli = { json: boolean; print(answer: Answer): void }

export const createCli = (json: boolean): Cli => ({
  json,
  print: ({ data, text }) => void process.stdout.write(`${json ? JSON.stringify(data) : text}\n`),
})

export function printFailure(json: boolean, { code, message, faults, shown, data, stack }: Failure) {
  const paint = painter(process.stderr)
  const lines = [paint('red', message), ...faults.map(fault => `  ${fault}`), shown, stack]
  // A program may read the message alone, so it tells the faults as well.
  const whole = faults.length > 0 ? `${message} ${faults.join('; ')}` : message
  const error = { code, message: whole, ...(faults.length > 0 && { faults }), ...data, stack }
  const text = lines.filter(line => line !== undefined).join('\n')
  process.stderr.write(`${json ? JSON.stringify({ error }) : text}\n`)
}
