export type Picture = { type: 'png' | 'jpeg'; bytes: Buffer; width: number; height: number }

// Asked before anything of that size is unpacked.
export type SizeFault = (width: number, height: number) => string | undefined

// Packs dots, and unpacks so many of them at most; undefined when they are not packed, or are more.
export type Zip = { pack(dots: Buffer): Buffer; unpack(packed: Buffer, most: number): Buffer | undefined }
