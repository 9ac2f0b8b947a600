export type Picture = { type: 'png' | 'jpeg'; bytes: Buffer; width: number; height: number }

// `unpack` returns undefined if the data is damaged or larger than `maxBytes`.
export type Zip = {
  pack(pixels: Buffer): Buffer
  unpack(packed: Buffer, maxBytes: number): Buffer | undefined
}

const [minSide, maxSide] = [32, 512] // pixels

// Checked before a picture is decompressed.
export function sizeFault(width: number, height: number): string | undefined {
  const fits = [width, height].every(side => side >= minSide && side <= maxSide)
  return fits ? undefined : `it is ${width}x${height}: each side has ${minSide} to ${maxSide} pixels`
}
