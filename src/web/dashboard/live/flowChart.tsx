import type { FlowPoint } from '../../../core/operator/liveFigures.ts'
import type { Lang } from '../../../core/languages/languages.ts'
import { zonedMinute } from '../frame/zonedTime.ts'
import { liveTexts } from './liveTexts.ts'
import { figure } from './figures.ts'

const height = 208
const plot = { left: 40, top: 8, bottom: 186 }
const gridLines = 4

const markText = (mark: number, lang: Lang) =>
  new Intl.NumberFormat(lang, { maximumFractionDigits: 2 }).format(mark)

// The smallest round number of payments a second that is above all points.
function scaleOf(most: number): number {
  const steps = [0.04, 0.1, 0.2, 0.4, 1, 2, 4, 8, 12, 16, 20, 40, 80, 100, 200, 400, 1000, 2000, 4000]
  return steps.find(step => step >= most) ?? Math.ceil(most / 1000) * 1000
}

// New payments and failed attempts of each minute of the last hour. The table behind it has the same figures.
type FlowProps = { points: readonly FlowPoint[]; lang: Lang; zone: string }

export const FlowChart = (props: FlowProps) => (
  <>
    <div class="only-d">
      <Drawing {...props} width={606} labelEvery={15} />
    </div>
    <div class="only-p">
      <Drawing {...props} width={324} labelEvery={30} />
    </div>
  </>
)

const Drawing = ({
  points,
  lang,
  zone,
  width,
  labelEvery,
}: FlowProps & { width: number; labelEvery: number }) => {
  const right = width - 4
  const texts = liveTexts[lang]
  const top = scaleOf(Math.max(...points.map(({ started, notPaid }) => Math.max(started, notPaid))))
  const x = (at: number) => plot.left + (at / Math.max(1, points.length - 1)) * (right - plot.left)
  const y = (value: number) => plot.bottom - (value / top) * (plot.bottom - plot.top)
  const line = (of: 'started' | 'notPaid') =>
    points.map((point, at) => `${at ? 'L' : 'M'}${x(at).toFixed(1)} ${y(point[of]).toFixed(1)}`).join('')
  const last = points.at(-1)
  return (
    <svg
      class="chart"
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={texts.chart}
    >
      <path class="area" d={`${line('started')}L${right} ${plot.bottom}L${plot.left} ${plot.bottom}z`} />
      {[0, 1, 2, 3, gridLines].map(step => (
        <>
          <path
            class={step === 0 ? 'axis' : 'grid'}
            d={`M${plot.left} ${y((top * step) / gridLines).toFixed(1)}H${width}`}
          />
          <text x={plot.left - 6} y={y((top * step) / gridLines) + 4} text-anchor="end">
            {markText((top * step) / gridLines, lang)}
          </text>
        </>
      ))}
      <path class="l" d={line('started')} />
      <path class="l2" d={line('notPaid')} />
      {points
        .map((point, at) => ({ point, at }))
        .filter(({ at }) => at % labelEvery === 0 || at === points.length - 1)
        .map(({ point, at }, index, all) => (
          <text
            x={x(at)}
            y={height - 4}
            text-anchor={index === 0 ? 'start' : index === all.length - 1 ? 'end' : 'middle'}
          >
            {zonedMinute(point.minute, zone)}
          </text>
        ))}
      {last && <circle class="b" cx={right} cy={y(last.started)} r="4" />}
    </svg>
  )
}

export const FlowTable = ({ points, lang, zone }: FlowProps) => {
  const texts = liveTexts[lang]
  return (
    <details class="as-table">
      <summary>{texts.asTable}</summary>
      <table>
        <thead>
          <tr>
            <th>{texts.time}</th>
            <th class="r">{texts.started}</th>
            <th class="r">{texts.notPaid}</th>
          </tr>
        </thead>
        <tbody>
          {points.toReversed().map(({ minute, started, notPaid }) => (
            <tr>
              <td class="num">{zonedMinute(minute, zone)}</td>
              <td class="r">{figure(started, lang)}</td>
              <td class="r">{figure(notPaid, lang)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  )
}
