// How far the run is: a bar that stays on its line where someone watches, otherwise a short line now and then.
const barWidth = 24

export function createProgress(totalMs, out = process.stderr) {
  const live = out.isTTY
  let doneMs = 0
  let saying = ''
  const draw = () => {
    const share = Math.min(1, doneMs / totalMs)
    const bar = '█'.repeat(Math.round(share * barWidth)).padEnd(barWidth, '░')
    out.write(`\r\x1b[K${bar} ${String(Math.floor(share * 100)).padStart(3)} %  ${saying}`)
  }
  return {
    say(words) {
      if (words === saying) return
      saying = words
      if (live) draw()
      else out.write(`${words}\n`)
    },
    step(ms) {
      doneMs += ms
      if (live) draw()
    },
    clear: () => void (live && out.write('\r\x1b[K')),
  }
}
