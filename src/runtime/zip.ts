import { deflateSync, inflateSync } from 'node:zlib'
import type { Zip } from '../core/merchant/logo/picture.ts'

export const zip: Zip = {
  pack: dots => deflateSync(dots, { level: 9 }),
  unpack(packed, most) {
    try {
      return inflateSync(packed, { maxOutputLength: most })
    } catch {
      return undefined
    }
  },
}
