// Loaded before a program (node --import), so that its machine's clock shows another time of day: ODD_CLOCK is a file
// that says by how many milliseconds. It is read again and again, so the clock can be set while the program runs.
import { readFileSync } from 'node:fs'

const RealDate = Date
const readShift = () => Number(readFileSync(process.env.ODD_CLOCK, 'utf8')) || 0
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
