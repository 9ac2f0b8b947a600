// A chart of bars, and of a dashed line for the period before, drawn on the server. Beside it stands a table.

export type ChartSlot = { label: string; value: number; before: number; isOpen: boolean } // isOpen: still counting

type BarChartProps = { slots: readonly ChartSlot[]; label: string; number(value: number): string }

export const BarChart = (props: BarChartProps) => (
  <>
    <div class="only-d">
      <Drawing {...props} width={606} left={64} labelEvery={props.slots.length > 20 ? 2 : 1} />
    </div>
    <div class="only-p">
      <Drawing {...props} width={324} left={56} labelEvery={Math.ceil(props.slots.length / 6)} />
    </div>
  </>
)

const height = 192
const top = 20
const base = 168

type DrawingProps = BarChartProps & { width: number; left: number; labelEvery: number }

const Drawing = ({ slots, label, number, width, left, labelEvery }: DrawingProps) => {
  const most = Math.max(...slots.map(({ value }) => value))
  const scale = niceScale(Math.max(most, ...slots.map(({ before }) => before)))
  const step = (width - left) / slots.length
  const barWidth = Math.max(2, Math.min(22, step * 0.62))
  const y = (value: number) => base - (value / scale.max) * (base - top)
  const middle = (at: number) => left + (at + 0.5) * step
  const line = slots
    .map(({ before }, at) => `${at ? 'L' : 'M'}${tenth(middle(at))} ${tenth(y(before))}`)
    .join('')
  const highest = slots.findIndex(({ value }) => value === most && most > 0)
  return (
    <svg
      class="chart"
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={label}
    >
      {scale.marks.map(mark => (
        <>
          <path class={mark === 0 ? 'axis' : 'grid'} d={`M${left} ${tenth(y(mark))}H${width}`} />
          <text x={left - 8} y={tenth(y(mark) + 4)} text-anchor="end">
            {number(mark)}
          </text>
        </>
      ))}
      {slots.map(({ value, isOpen }, at) => {
        const tall = base - y(value)
        if (tall <= 0) return undefined
        const radius = Math.min(3, tall, barWidth / 2)
        return (
          <path
            class={isOpen ? 'soon' : 'b'}
            d={`M${tenth(middle(at) - barWidth / 2)} ${base}v${tenth(radius - tall)}q0 -${radius} ${radius} -${radius}h${tenth(barWidth - 2 * radius)}q${radius} 0 ${radius} ${radius}V${base}z`}
          />
        )
      })}
      {slots.some(({ before }) => before > 0) && <path class="then" d={line} />}
      {highest >= 0 && (
        <text
          class="strong"
          x={tenth(nearEdge(middle(highest), left, width))}
          y={tenth(y(most) - 6)}
          text-anchor="middle"
        >
          {number(most)}
        </text>
      )}
      {slots.map(
        (slot, at) =>
          at % labelEvery === 0 && (
            <text x={tenth(middle(at))} y={height - 4} text-anchor="middle">
              {slot.label}
            </text>
          ),
      )}
    </svg>
  )
}

const tenth = (value: number) => Math.round(value * 10) / 10
const nearEdge = (x: number, left: number, width: number) => Math.min(Math.max(x, left + 20), width - 28)

// Three steps of a round size, above the highest value.
function niceScale(highest: number): { max: number; marks: number[] } {
  const rough = Math.max(highest, 1) / 3
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = ([1, 2, 4, 5, 10].find(factor => factor * power >= rough) ?? 10) * power
  return { max: step * 3, marks: [0, 1, 2, 3].map(count => Math.round(count * step * 100) / 100) }
}

type ShareBarProps = { parts: readonly { tone: 'b' | 'fail' | 'left'; amount: number }[]; of: number }

// One bar in parts. The numbers stand beside it.
export const ShareBar = ({ parts, of }: ShareBarProps) => {
  let from = 0
  return (
    <div class="bar">
      <svg class="chart" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true" focusable="false">
        {parts.map(({ tone, amount }) => {
          const x = from
          const wide = of > 0 ? (100 * amount) / of : 0
          from += wide
          return wide > 0 && <rect class={tone} x={tenth(x)} y="0" width={tenth(wide)} height="8" />
        })}
      </svg>
    </div>
  )
}
