const lineFeed = 0x0a
// Up to 4 GiB: more than is ever read. What follows the size is said to nobody.
const sizeLine = /^([0-9a-f]{1,8})[ \t]*(?:;[^\r]*)?\r\n$/i
const trailerLine = /^[^\r]+\r\n$/

type Keep = (bytes: Buffer, from: number, to: number) => void

// Takes a body out of its chunks, wherever the bytes are cut into packets. The caller bounds how much it is given.
export class ChunkedBody {
  readonly #keep: Keep
  #next: 'size' | 'gap' | 'trailer' = 'size' // the line that comes when no data is left
  #left = 0
  #line = ''
  state: 'reading' | 'ended' | 'broken' = 'reading'

  constructor(keep: Keep) {
    this.#keep = keep
  }

  // Gives back where it has stopped: at `to`, or behind the last chunk.
  read(bytes: Buffer, from: number, to: number): number {
    let at = from
    while (at < to && this.state === 'reading')
      at = this.#left > 0 ? this.#readData(bytes, at, to) : this.#readLine(bytes, at, to)
    return at
  }

  #readData(bytes: Buffer, from: number, to: number): number {
    const end = Math.min(to, from + this.#left)
    this.#keep(bytes, from, end)
    this.#left -= end - from
    return end
  }

  #readLine(bytes: Buffer, from: number, to: number): number {
    const found = bytes.indexOf(lineFeed, from)
    const isWhole = found >= 0 && found < to
    const end = isWhole ? found + 1 : to
    this.#line += bytes.toString('latin1', from, end)
    if (!isWhole) return end
    const line = this.#line
    this.#line = ''
    if (!this.#follow(line)) this.state = 'broken'
    return end
  }

  #follow(line: string): boolean {
    if (this.#next === 'size') return this.#begin(sizeLine.exec(line)?.[1])
    if (this.#next === 'trailer' && line !== '\r\n') return trailerLine.test(line)
    if (this.#next === 'trailer') this.state = 'ended'
    this.#next = 'size'
    return line === '\r\n'
  }

  #begin(size: string | undefined): boolean {
    if (size === undefined) return false
    this.#left = Number.parseInt(size, 16)
    this.#next = this.#left === 0 ? 'trailer' : 'gap'
    return true
  }
}
