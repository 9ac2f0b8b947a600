import { stripBidiControls } from '../core/text.ts'
import type { Failure } from './failure.ts'
import { painter } from './terminal.ts'

// What a command found out: as data for programs, as text for people.
export type Output = { data: unknown; text: string }

export type Cli = { json: boolean; print(answer: Output): void }

// JSON.stringify escapes C0 controls only. This escapes all other invisible characters too, bidi controls among them;
// read as JSON, the text is the same.
const asJson = (data: unknown) =>
  JSON.stringify(data).replace(/[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu, char =>
    char.split('').map(escapeUnit).join(''),
  )

const escapeUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`

// Text of customers, shops and providers is in most of what is printed for people, so bidi controls are removed here, once
// for all commands.
export const createCli = (json: boolean): Cli => ({
  json,
  print: ({ data, text }) => void process.stdout.write(`${json ? asJson(data) : stripBidiControls(text)}\n`),
})

export function printFailure(json: boolean, { code, message, faults, shown, data, stack }: Failure) {
  const paint = painter(process.stderr)
  const lines = [paint('red', message), ...faults.map(fault => `  ${fault}`), shown, stack]
  // A program may read the message alone, so it tells the faults as well.
  const whole = faults.length > 0 ? `${message} ${faults.join('; ')}` : message
  const error = { code, message: whole, ...(faults.length > 0 && { faults }), ...data, stack }
  const text = lines.filter(line => line !== undefined).join('\n')
  process.stderr.write(`${json ? asJson({ error }) : stripBidiControls(text)}\n`)
}
