// Loaded before a program (node --import) to shift its clock. CLOCK_SHIFT_FILE names a file with the shift in
// milliseconds. The file is read repeatedly, so that a test can change the clock while the program runs.
import { readFileSync } from 'node:fs'

const RealDate = Date
const readShift = () => Number(readFileSync(process.env.CLOCK_SHIFT_FILE, 'utf8')) || 0
let shift = readShift()

globalThis.Date = class Date extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(RealDate.now() + shift)
    else super(...given)
  }
  static now() {
    return RealDate.now() + shift
  }
}

setInterval(() => (shift = readShift()), 20).unref()
