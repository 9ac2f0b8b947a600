import { createRequire } from 'node:module'

// The package ships no types; these are of what we use: its PDUs, its alphabet and its numbers. Its sessions we leave
// alone: they have no deadlines, and one PDU that they cannot read stops them for good.
export type Pdu = {
  command: string
  command_status: number
  sequence_number: number
  isResponse(): boolean
  response(fields?: Fields): Pdu
  toBuffer(): Buffer
  readonly [field: string]: unknown
}
export type Fields = Readonly<Record<string, string | number | Buffer>>

type Library = {
  PDU: new (command: string | Buffer, fields?: Fields) => Pdu
  encodings: Record<'ASCII' | 'UCS2', { match(text: string): boolean; encode(text: string): Buffer }>
  errors: Readonly<Record<string, number>>
}

export const { PDU, encodings, errors } = createRequire(import.meta.url)('smpp') as Library

const errorNames = new Map(Object.entries(errors).map(([name, code]) => [code, name]))

export const statusName = (status: number) =>
  errorNames.get(status) ?? `0x${status.toString(16).padStart(8, '0')}`
