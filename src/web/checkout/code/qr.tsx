import { type Squares, squaresOf } from './squares.ts'

const border = 2

// A code to scan as one path: each run of dark squares is one stroke of it. Dark on white in both schemes, or
// cameras do not find it.
export const Qr = ({ text, title }: { text: string; title: string }) => {
  const squares = squaresOf(text, border)
  if (!squares) return null
  const { rows, size } = squares
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
      <path stroke="#000" d={strokes(rows)} />
    </svg>
  )
}

function strokes(rows: Squares['rows']): string {
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
