import { type PropsWithChildren, raw, written } from '../../core/markup/jsx-runtime.ts'
import { Icon, PageFrame, SiteHeader, type SitePlace } from '../../core/markup/page.tsx'
import { stripBidiControls } from '../../core/text.ts'

type OperatorPageProps = PropsWithChildren<{
  title: string
  styles?: readonly string[] // after the common ones
  current: SitePlace
  isTest?: boolean // the page is about test mode only
}>

const places: readonly SitePlace[] = ['shop', 'phone', 'inbox', 'support', 'docs']

// The frame of the support pages and the inbox. They show texts of customers, shops and providers, so bidi controls
// are removed here, from all of the page.
export const OperatorPage = ({ title, styles = [], current, isTest, children }: OperatorPageProps) => (
  <PageFrame
    lang="en"
    title={stripBidiControls(title)}
    styles={['/support/support.css', ...styles]}
    header={
      <>
        {isTest && <p class="test">Test mode: no real money moves</p>}
        <SiteHeader places={places} current={current} />
      </>
    }
  >
    <main class="page stack">{raw(stripBidiControls(written(children)))}</main>
  </PageFrame>
)

export const Time = ({ at }: { at: Date }) => (
  <time datetime={at.toISOString()}>{at.toISOString().slice(0, 19).replace('T', ' ')} UTC</time>
)

type ClockTimeProps = { at: Date; day: Date }

// Only the time, if the heading above names the day.
export const ClockTime = ({ at, day }: ClockTimeProps) => {
  const [date, time] = at.toISOString().slice(0, 19).split('T')
  return (
    <time datetime={at.toISOString()}>
      {date === day.toISOString().slice(0, 10) ? time : `${date} ${time}`}
    </time>
  )
}

export type PillTone = 'ok' | 'wait' | 'bad' | 'off'

const pillIcons = { ok: 'check', bad: 'cross', off: 'cross' } as const

// A status: a mark and a word.
export const Pill = ({ tone, children }: PropsWithChildren<{ tone: PillTone }>) => (
  <span class={`pill ${tone}`}>
    {tone === 'wait' ? <ClockIcon /> : <Icon name={pillIcons[tone]} />}
    {children}
  </span>
)

const ClockIcon = () => (
  <svg class="i" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
    <path d="M10 2.500a7.500 7.500 0 1 1 0 15a7.500 7.500 0 1 1 0-15M10 6v4.500l3 2" />
  </svg>
)
