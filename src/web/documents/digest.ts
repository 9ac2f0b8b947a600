import { hash } from 'node:crypto'

// What a file or document is told apart from its former self by, in an address or an ETag.
export const digestOf = (bytes: Buffer) => hash('sha256', bytes, 'hex').slice(0, 10)
