// The check of each part of a PNG, by the table of its standard.
const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1
  return value
})

export function crc32(bytes: Buffer): number {
  let value = 0xffffffff
  for (const byte of bytes) value = (table[(value ^ byte) & 255] as number) ^ (value >>> 8)
  return (value ^ 0xffffffff) >>> 0
}
