import type { LiveView } from '../../../actions/installation/liveView.ts'
import { originOf, fill } from '../../../core/text.ts'
import { resultText } from '../../../core/notification/delivery.ts'
import type { Concern } from '../../../core/operator/liveFigures.ts'
import { Icon } from '../../../core/markup/page.tsx'
import type { Child } from '../../../core/markup/jsx-runtime.ts'
import { cleanText } from '../../../core/text.ts'
import { OperatorPlacePage } from '../frame/frame.tsx'
import { frameTexts } from '../frame/frameTexts.ts'
import { zonedDayMinute, zonedMinute, zonedSecond } from '../frame/zonedTime.ts'
import { operatorBase, type Visit } from '../route.ts'
import { AccountsTable, type MethodBadges } from './accountsTable.tsx'
import { countText, figure, offsetText, percentText, pointsText } from './figures.ts'
import { FlowChart, FlowTable } from './flowChart.tsx'
import { liveTexts } from './liveTexts.ts'
import { TaskCard } from './taskCard.tsx'

type LiveProps = {
  visit: Visit
  live: LiveView
  queue: number // of this node
  zone: string
  badges: MethodBadges
}

export const LivePage = ({ visit, live, queue, zone, badges }: LiveProps) => {
  const texts = liveTexts[visit.lang]
  const { mode } = live
  return (
    <OperatorPlacePage
      visit={visit}
      title={texts.title}
      place="live"
      counts={{ tasks: live.openTasks }}
      head={<script src={`${operatorBase}/live.js`} defer />}
      beside={
        <>
          <span class="muted small only-d" id="live-time">
            {fill(texts.updates, { time: zonedSecond(live.now, zone) })}
          </span>
          <noscript>
            <a class="small" href={`${operatorBase}?mode=${mode}`}>
              {texts.reload}
            </a>
          </noscript>
        </>
      }
      switches={
        <nav class="switch" aria-label={frameTexts[visit.lang].mode}>
          {(['test', 'live'] as const).map(one => (
            <a
              class={one}
              href={`${operatorBase}?mode=${one}`}
              aria-current={one === mode ? 'true' : undefined}
            >
              {frameTexts[visit.lang][one]}
            </a>
          ))}
        </nav>
      }
    >
      <Verdict visit={visit} live={live} />
      <Figures visit={visit} live={live} zone={zone} />
      <div class="two">
        <section class="card">
          <header>
            <h2>{texts.chart}</h2>
            <span class="legend">
              <span class="key">{texts.started}</span>
              <span class="key fail">{texts.notPaid}</span>
            </span>
          </header>
          <FlowChart points={live.points} lang={visit.lang} zone={zone} />
          <FlowTable points={live.points} lang={visit.lang} zone={zone} />
        </section>
        <TaskCard visit={visit} tasks={live.tasks} open={live.openTasks} now={live.now} />
      </div>
      <section class="card">
        <header>
          <h2>{texts.accounts}</h2>
          <a href={`${operatorBase}/accounts`}>{texts.allAccounts}</a>
        </header>
        <AccountsTable lang={visit.lang} accounts={live.accounts} zone={zone} badges={badges} />
      </section>
      <div class="halves">
        <NodesCard visit={visit} live={live} queue={queue} zone={zone} />
        <EndpointsCard visit={visit} live={live} zone={zone} />
      </div>
    </OperatorPlacePage>
  )
}

const whatOf = (concern: Concern): string | number => {
  if (concern.kind === 'all_down') return concern.accounts.join(', ')
  if ('account' in concern) return concern.account
  if ('node' in concern) return concern.node
  return 'open' in concern ? concern.open : concern.failing
}

const placeOf = (concern: Concern): string | undefined => {
  if (concern.kind === 'tasks') return '/tasks'
  if (concern.kind === 'all_down') return '/accounts'
  return 'account' in concern ? `/accounts/${encodeURIComponent(concern.account)}` : undefined
}

// What needs a person first, then the rest in one line.
const Verdict = ({ visit, live: { concerns } }: Pick<LiveProps, 'visit' | 'live'>) => {
  const texts = liveTexts[visit.lang]
  const [first, ...others] = concerns
  if (!first)
    return (
      <section class="notice ok">
        <Icon name="check" />
        <div>
          <h1>{texts.good}</h1>
          <p>{texts.goodText}</p>
        </div>
      </section>
    )
  const words = texts.concerns[first.kind]
  const what = { what: whatOf(first) }
  const place = placeOf(first)
  const also = others.map(one =>
    fill(texts.concerns[one.kind].title, { what: whatOf(one) }).replace(texts.flow, ''),
  )
  return (
    <section class={first.kind === 'all_down' ? 'notice bad' : 'notice'}>
      <Icon name={first.kind === 'all_down' ? 'stop' : 'alert'} />
      <div>
        <h1>{fill(words.title, what)}</h1>
        <p>
          {fill(words.text, what)}
          {also.length > 0 && ` ${fill(texts.alsoText, { what: also.map(text => text.trim()).join(' ') })}`}
        </p>
      </div>
      {place && (
        <a class="btn plain" href={`${operatorBase}${place}`}>
          {fill(words.see, what)}
        </a>
      )}
    </section>
  )
}

const Figure = ({ label, value, against }: { label: string; value: Child; against: Child }) => (
  <div class="card figure">
    <p class="label">{label}</p>
    <p class="value">{value}</p>
    <p class="against">{against}</p>
  </div>
)

const Figures = ({ visit: { lang }, live, zone }: Pick<LiveProps, 'visit' | 'live' | 'zone'>) => {
  const texts = liveTexts[lang]
  const { peak, rate, difference, p95Ms, waiting, endpoints } = live
  const atFailing = endpoints.reduce((sum, one) => sum + one.waiting, 0)
  const failing = { count: endpoints.length, waiting: countText(atFailing, lang) }
  return (
    <section class="four" aria-label={texts.figures}>
      <Figure
        label={texts.perSecond}
        value={figure(live.perSecond, lang)}
        against={
          peak
            ? fill(texts.peak, { rate: figure(peak.perSecond, lang), time: zonedMinute(peak.minute, zone) })
            : texts.noPeak
        }
      />
      <Figure
        label={texts.rate}
        value={rate === undefined ? '–' : percentText(rate, lang)}
        against={
          rate === undefined ? (
            texts.noRate
          ) : difference === undefined ? (
            texts.noYesterday
          ) : (
            <span class={difference <= -1 ? 'bad-ink' : undefined}>
              {fill(difference < 0 ? texts.below : texts.above, { points: pointsText(difference, lang) })}
            </span>
          )
        }
      />
      <Figure
        label={texts.p95}
        value={p95Ms === undefined ? '–' : p95Ms === Infinity ? '> 5 s' : `≤ ${countText(p95Ms, lang)} ms`}
        against={fill(texts.refused, { count: countText(live.refused, lang) })}
      />
      <Figure
        label={texts.waiting}
        value={`${countText(waiting.count, lang)}${waiting.more ? '+' : ''}`}
        against={
          endpoints.length === 0
            ? texts.noFailing
            : fill(atFailing >= waiting.count ? texts.allAt : texts.at, failing)
        }
      />
    </section>
  )
}

const NodesCard = ({ visit: { lang }, live, queue, zone }: Omit<LiveProps, 'badges'>) => {
  const texts = liveTexts[lang]
  return (
    <section class="card">
      <header>
        <h2>{texts.nodes}</h2>
      </header>
      {live.nodes.length === 0 ? (
        <p class="empty">
          <span>{texts.noNodes}</span>
        </p>
      ) : (
        <table class="fold">
          <thead>
            <tr>
              <th>{texts.node}</th>
              <th>{texts.version}</th>
              <th class="r">{texts.clock}</th>
              <th class="r">{texts.schema}</th>
              <th class="r">{texts.since}</th>
              <th>{texts.state}</th>
            </tr>
          </thead>
          <tbody>
            {live.nodes.map(({ name, facts, connected_at, state }) => (
              <tr>
                <td>
                  <b>{name}</b>
                </td>
                <td class="num">{facts?.version}</td>
                <td class={state === 'clock_off' ? 'r warn-ink' : 'r'}>
                  {facts && offsetText(facts.clockOffsetMs, lang)}
                </td>
                <td class="r">{facts?.schema}</td>
                <td class="r">{zonedDayMinute(connected_at, zone)}</td>
                <td>
                  <span class={state === 'good' ? 'pill ok' : 'pill wait'}>
                    <Icon name={state === 'good' ? 'check' : 'alert'} />
                    {texts.states[state]}
                  </span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <p class="small muted">{fill(texts.queue, { count: countText(queue, lang) })}</p>
    </section>
  )
}

const maxWords = 80

const EndpointsCard = ({ visit: { lang }, live, zone }: Pick<LiveProps, 'visit' | 'live' | 'zone'>) => {
  const texts = liveTexts[lang]
  return (
    <section class="card">
      <header>
        <h2>{texts.endpoints}</h2>
      </header>
      {live.endpoints.length === 0 ? (
        <p class="empty">
          <span>{texts.noEndpoints}</span>
        </p>
      ) : (
        <table class="fold">
          <thead>
            <tr>
              <th>{texts.endpoint}</th>
              <th>{texts.lastAnswer}</th>
              <th class="r">{texts.waitingShort}</th>
              <th class="r">{texts.next}</th>
            </tr>
          </thead>
          <tbody>
            {live.endpoints.map(one => (
              <tr>
                <td>
                  {originOf(one.url)?.replace(/^https?:\/\//, '') ?? one.lane}
                  <br />
                  <a class="tiny" href={`${operatorBase}/merchants/${one.merchant_id}`}>
                    {one.merchant_name}
                  </a>
                </td>
                <td>
                  {one.last_status ? `${one.last_status}: ` : ''}
                  {one.last_result ? resultText(one.last_result) : cleanText(one.last_words ?? '', maxWords)}
                </td>
                <td class="r">{countText(one.waiting, lang)}</td>
                <td class="r">{zonedMinute(one.next_try_at, zone)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}
