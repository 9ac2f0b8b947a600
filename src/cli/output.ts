import { stripBidiControls } from '../core/text.ts'
import type { Failure } from './failure.ts'
import { painter } from './terminal.ts'

// The result of a command: data for programs, text for people.
export type Output = { data: unknown; text: string; exitCode?: number }

// For data: only the named columns of a row, so that a secret or a new column is never printed.
export const pick = <T extends object, Name extends keyof T>(row: T, ...names: Name[]) =>
  Object.fromEntries(names.map(name => [name, row[name]])) as Pick<T, Name>

// JSON.stringify escapes C0 controls only. This escapes all other invisible characters too, including bidi controls; the
// parsed value is the same.
const asJson = (data: unknown) =>
  JSON.stringify(data).replace(/[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu, char =>
    char.split('').map(escapeUnit).join(''),
  )

const escapeUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`

// Most output contains text of customers, merchants and providers, so bidi controls are removed here for all commands.
export function printOutput(json: boolean, { data, text, exitCode }: Output) {
  process.stdout.write(`${json ? asJson(data) : stripBidiControls(text)}\n`)
  if (exitCode !== undefined) process.exitCode = exitCode
}

export function printFailure(json: boolean, { code, message, faults, shown, data, stack }: Failure) {
  const paint = painter(process.stderr)
  const lines = [paint('red', message), ...faults.map(fault => `  ${fault}`), shown, stack]
  // A program may read only the message, so it includes the faults.
  const whole = faults.length > 0 ? `${message} ${faults.join('; ')}` : message
  const error = { code, message: whole, ...(faults.length > 0 && { faults }), ...data, stack }
  const text = lines.filter(line => line !== undefined).join('\n')
  process.stderr.write(`${json ? asJson({ error }) : stripBidiControls(text)}\n`)
}
