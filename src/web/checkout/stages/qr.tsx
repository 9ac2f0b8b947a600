import { encode } from 'uqr'

const maskPattern = 3 // cameras read any of the eight; to try them all for the prettiest takes ten times as long
const maxText = 1000 // more makes a code that no phone can read from a screen

// A code to scan as one path: each run of dark squares is one stroke of it. Dark on white in both schemes, or
// cameras do not find it.
export const Qr = ({ text, title }: { text: string; title: string }) => {
  if (text.length > maxText) return null
  const { data, size } = encode(text, { border: 2, maskPattern })
  return (
    <svg
      xmlns="http://www.w3.org/2000/svg"
      class="qr"
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      shape-rendering="crispEdges"
    >
      <title>{title}</title>
      <path fill="#fff" d={`M0 0h${size}v${size}H0z`} />
      <path stroke="#000" d={strokes(data)} />
    </svg>
  )
}

function strokes(rows: readonly boolean[][]): string {
  let path = ''
  rows.forEach((row, y) => {
    for (let x = 0; x < row.length; x++) {
      if (!row[x]) continue
      const from = x
      while (row[x + 1]) x++
      path += `M${from} ${y}.5h${x + 1 - from}`
    }
  })
  return path
}
