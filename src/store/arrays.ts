// Arrays as PostgreSQL itself keeps them, for statements of many rows: written and read in a fraction of the time that
// their text takes. The driver sends a Buffer as it is, so the statement has to name the type: ${texts(ids)}::text[].
const oid = { bytea: 17, integer: 23, text: 25, timestamptz: 1184 }
const headBytes = 20
const epochMs = Date.UTC(2000, 0, 1) // times are counted from here, in microseconds

export function texts(values: readonly (string | null)[]): Buffer {
  let most = headBytes
  for (const value of values) most += 4 + (value === null ? 0 : value.length * 3)
  const bytes = head(oid.text, values.length, most)
  let at = headBytes
  for (const value of values) {
    const length = value === null ? -1 : bytes.write(value, at + 4)
    bytes.writeInt32BE(length, at)
    at += 4 + Math.max(0, length)
  }
  return bytes.subarray(0, at)
}

export function integers(values: readonly (number | null)[]): Buffer {
  const bytes = head(oid.integer, values.length, headBytes + values.length * 8)
  let at = headBytes
  for (const value of values) {
    at = bytes.writeInt32BE(value === null ? -1 : 4, at)
    if (value !== null) at = bytes.writeInt32BE(whole(value), at)
  }
  return bytes.subarray(0, at)
}

export function times(values: readonly (Date | null)[]): Buffer {
  const bytes = head(oid.timestamptz, values.length, headBytes + values.length * 12)
  let at = headBytes
  for (const value of values) {
    at = bytes.writeInt32BE(value === null ? -1 : 8, at)
    if (value !== null) at = writeMicroseconds(bytes, whole(value.getTime()) - epochMs, at)
  }
  return bytes.subarray(0, at)
}

export function blobs(values: readonly (Buffer | null)[]): Buffer {
  let most = headBytes
  for (const value of values) most += 4 + (value === null ? 0 : value.length)
  const bytes = head(oid.bytea, values.length, most)
  let at = headBytes
  for (const value of values) {
    at = bytes.writeInt32BE(value === null ? -1 : value.length, at)
    if (value !== null) at += value.copy(bytes, at)
  }
  return bytes
}

// One dimension that counts from 1. An empty array has none; one of length 0 means the same.
function head(type: number, length: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafe(size)
  bytes.writeInt32BE(1, 0)
  bytes.writeInt32BE(1, 4) // some may be null
  bytes.writeInt32BE(type, 8)
  bytes.writeInt32BE(length, 12)
  return bytes.fill(0, 16, 19).fill(1, 19, headBytes)
}

// What is no number would be written as 0, and half of one as less than it is.
function whole(value: number): number {
  if (!Number.isInteger(value)) throw new RangeError(`${value} is no whole number`)
  return value
}

// A 64-bit number in two halves: no bigint is made, and no number that is too large to be exact.
function writeMicroseconds(bytes: Buffer, ms: number, at: number): number {
  const high = Math.floor(ms / 2 ** 32)
  const low = (ms - high * 2 ** 32) * 1000
  bytes.writeInt32BE(high * 1000 + Math.floor(low / 2 ** 32), at)
  return bytes.writeUInt32BE(low >>> 0, at + 4)
}
