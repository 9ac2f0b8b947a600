import type { Child } from '../../../core/markup/jsx-runtime.ts'
import type { Currency } from '../../../core/money.ts'
import { localizedMoney } from '../../../core/money.ts'
import type { Status } from '../../../core/payment/payment.ts'
import { languages } from '../../../core/languages/languages.ts'
import { localTime } from '../../../core/zone.ts'
import { MerchantPage } from '../frame/frame.tsx'
import type { MerchantVisit } from '../route.ts'
import { type TakeTexts, takeTexts } from './takeTexts.ts'

// What the pages of the counter share.

export const textsOf = ({ lang }: Pick<MerchantVisit, 'lang'>): TakeTexts => takeTexts[lang]

export const moneyFor = ({ lang }: Pick<MerchantVisit, 'lang'>, minor: bigint, currency: Currency) =>
  localizedMoney(minor, currency, languages[lang].locale)

// 14:58 or 14:58:21, by the clock of the installation.
export const clockTime = (at: Date, zone: string, seconds = false) =>
  localTime(at, zone).time.slice(0, seconds ? 8 : 5)

const icons = {
  plus: 'M10 4v12M4 10h12',
  back: 'M16 10H4M8.500 5.500L4 10l4.500 4.500',
  clock: 'M10 3a7 7 0 1 1 0 14a7 7 0 1 1 0-14M10 6v4l2.500 2',
  check: 'M4 10.500l4 4 8-9',
  cross: 'M5 5l10 10M15 5L5 15',
  copy: 'M7 7h10v10H7zM4 13H3V3h10v1',
  share: 'M10 12.500v-9M6.500 6.500L10 3l3.500 3.500M5 10H4v7h12v-7h-1',
  again: 'M16.500 10a6.500 6.500 0 1 1-2-4.700M16.500 3v3.500H13',
  print:
    'M6 7V3h8v4M6 14H4.500A1.500 1.500 0 0 1 3 12.500v-4A1.500 1.500 0 0 1 4.500 7h11A1.500 1.500 0 0 1 17 8.500v4a1.500 1.500 0 0 1-1.500 1.500H14M6 12h8v5H6z',
} as const

export const CounterIcon = ({ name }: { name: keyof typeof icons }) => (
  <svg class="i" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
    <path d={icons[name]} />
  </svg>
)

const pills = {
  awaiting_payment: ['wait', 'clock'],
  paid: ['ok', 'check'],
  cancelled: ['', 'cross'],
  failed: ['bad', 'cross'],
} as const satisfies Record<Status, readonly [string, keyof typeof icons]>

type PillProps = { visit: MerchantVisit; status: Status; isExpired: boolean }

export const TakenPill = ({ visit, status, isExpired }: PillProps) => {
  const [kind, icon] = isExpired ? (['', 'cross'] as const) : pills[status]
  return (
    <span class={`pill ${kind}`.trim()}>
      <CounterIcon name={icon} />
      {isExpired ? textsOf(visit).expired : textsOf(visit).statuses[status]}
    </span>
  )
}

type CounterPageProps = { visit: MerchantVisit; title: string; head?: Child; children?: Child }

// A page of the counter: one narrow column in large type, on a phone and on a desk.
export const CounterPage = ({ visit, title, head, children }: CounterPageProps) => (
  <MerchantPage visit={visit} title={title} place="take" head={head}>
    <div class="cash">{children}</div>
    <script src="/dashboard/counter.js" defer></script>
  </MerchantPage>
)
