import type { LiveView } from '../../../actions/installation/liveView.ts'
import { fill } from '../../../core/text.ts'
import type { Concern } from '../../../core/operator/liveFigures.ts'
import { Icon } from '../../../core/markup/page.tsx'
import type { Child } from '../../../core/markup/jsx-runtime.ts'
import { OperatorPlacePage } from '../frame/frame.tsx'
import { frameTexts } from '../frame/frameTexts.ts'
import { zonedDayMinute, zonedMinute, zonedSecond } from '../frame/zonedTime.ts'
import { operatorBase, type Visit } from '../route.ts'
import { BackupsCard } from './backupsCard.tsx'
import { EndpointsTable } from './endpointsTable.tsx'
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
        <section class="card charted">
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
      <NodesCard visit={visit} live={live} queue={queue} zone={zone} />
      <div class="last-row">
        <section class="card">
          <header>
            <h2>{texts.endpoints}</h2>
            {live.endpoints.length > 0 && (
              <a href={`${operatorBase}/endpoints?mode=${mode}`}>{texts.allEndpoints}</a>
            )}
          </header>
          <EndpointsTable lang={visit.lang} endpoints={live.endpoints} zone={zone} />
        </section>
        <BackupsCard lang={visit.lang} backup={live.backup} now={live.now} zone={zone} />
      </div>
    </OperatorPlacePage>
  )
}

const whatOf = (concern: Concern): string | number => {
  if (concern.kind === 'all_down') return concern.accounts.join(', ')
  if (concern.kind === 'no_workers') return ''
  if ('account' in concern) return concern.account
  if ('node' in concern) return concern.node
  if ('hosts' in concern) return concern.hosts.join(', ')
  if ('hours' in concern) return concern.hours
  if ('merchants' in concern) return concern.merchants.join(', ')
  if ('open' in concern) return concern.open
  return 'failing' in concern ? concern.failing : ''
}

const docsOf: Partial<Record<Concern['kind'], string>> = {
  copy: '/docs/copies',
  moved: '/docs/copies',
  no_backup: '/docs/backup',
  old_backup: '/docs/backup',
  old_primary: '/docs/database',
}

const placeOf = (concern: Concern): string | undefined => {
  if (concern.kind === 'tasks') return `${operatorBase}/tasks`
  if (concern.kind === 'unreadable_secrets') return `${operatorBase}/merchants`
  if (concern.kind === 'all_down') return `${operatorBase}/accounts`
  if ('account' in concern) return `${operatorBase}/accounts/${encodeURIComponent(concern.account)}`
  return docsOf[concern.kind]
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
  const isStop = first.kind === 'all_down' || first.kind === 'copy' || first.kind === 'moved'
  const also = others.map(one =>
    fill(texts.concerns[one.kind].title, { what: whatOf(one) }).replace(texts.flow, ''),
  )
  return (
    <section class={isStop ? 'notice bad' : 'notice'}>
      <Icon name={isStop ? 'stop' : 'alert'} />
      <div>
        <h1>{fill(words.title, what)}</h1>
        <p>
          {fill(words.text, what)}
          {also.length > 0 && ` ${fill(texts.alsoText, { what: also.map(text => text.trim()).join(' ') })}`}
        </p>
      </div>
      {place && (
        <a class="btn plain" href={place}>
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
              <th>{texts.role}</th>
              <th>{texts.version}</th>
              <th class="r">{texts.clock}</th>
              <th class="r">{texts.schema}</th>
              <th class="r">{texts.since}</th>
              <th>{texts.state}</th>
            </tr>
          </thead>
          <tbody>
            {live.nodes.map(({ name, row, state }) => (
              <tr>
                <td>
                  <b>{name}</b>
                  {row && (
                    <>
                      <br />
                      <span class="tiny">{row.listens_at.replace('http://', '')}</span>
                    </>
                  )}
                </td>
                <td>{row && texts.roles[row.role]}</td>
                <td class="num" data-head={row && texts.version}>
                  {row?.version}
                </td>
                <td class={state === 'clock_off' ? 'r warn-ink' : 'r'} data-head={row && texts.clock}>
                  {row && offsetText(row.clock_offset_ms, lang)}
                </td>
                <td class="r" data-head={row && texts.schema}>
                  {row?.schema}
                </td>
                <td class="r" data-head={row && texts.since}>
                  {row && zonedDayMinute(row.started_at, zone, lang)}
                </td>
                <td>
                  <span class={state === 'good' ? 'pill ok' : 'pill wait'}>
                    <Icon name={state === 'good' ? 'check' : 'alert'} />
                    {texts.states[state]}
                  </span>
                  {row && state !== 'good' && (
                    <>
                      {' '}
                      <span class="tiny">{fill(texts.seen, { time: zonedSecond(row.seen_at, zone) })}</span>
                    </>
                  )}
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
