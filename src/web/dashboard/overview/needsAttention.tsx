import type { Attention } from '../../../actions/overview/overview.ts'
import { Icon } from '../../../core/markup/page.tsx'
import { moneyText } from '../../../core/timeline/history.ts'
import { fill } from '../../../core/text.ts'
import type { ZonedDates } from '../frame/zonedDates.ts'
import type { MerchantVisit } from '../route.ts'
import type { OverviewProps } from './overviewProps.ts'
import { overviewTexts } from './overviewTexts.ts'

type Need = { title: string; text: string; act?: { text: string; href: string } }

// What needs a person: each a sentence, the cure, and a link for those who may use it.
export const NeedsAttention = ({ visit, dates, attention }: OverviewProps) => {
  const texts = overviewTexts[visit.lang]
  const needs = needsOf(visit, dates, attention)
  if (needs.length === 0) return undefined
  return (
    <section class="card needs" aria-labelledby="needs">
      <header>
        <h2 id="needs">
          {texts.needs} <span class="count">{needs.length}</span>
        </h2>
      </header>
      <ul>
        {needs.map(({ title, text, act }) => (
          <li>
            <Icon name="alert" />
            <p>
              <b>{title}</b> <span class="muted">{text}</span>
            </p>
            {act && (
              <a class="btn plain small" href={act.href}>
                {act.text}
              </a>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}

function needsOf(visit: MerchantVisit, dates: ZonedDates, attention: Attention): Need[] {
  const texts = overviewTexts[visit.lang]
  const { endpoint, exhausted, secret, disputes, refunds, approvals } = texts
  const developers = (text: string) =>
    visit.may('developers.view') ? { text, href: `${visit.base}/developers` } : undefined
  const money = (text: string, path: string) =>
    visit.may('money.view') ? { text, href: `${visit.base}/money${path}` } : undefined
  const endpointNeeds = (all: Attention['endpoints'], words: { title: string; text: string }) =>
    all.map(({ url, waiting, since }) => ({
      title: fill(words.title, { host: hostOf(url) }),
      text: fill(words.text, { count: String(waiting), since: dates.moment(since) }),
      act: developers(endpoint.act),
    }))
  const [first] = attention.disputes
  return [
    ...endpointNeeds(attention.endpoints, endpoint),
    ...endpointNeeds(attention.exhausted, exhausted),
    ...attention.secrets.map(({ kind, expires_at }) => ({
      title: fill(secret[kind], { date: dates.moment(expires_at) }),
      text: secret.text,
      act: developers(secret.act),
    })),
    ...(first
      ? [
          {
            title: fill(disputes.title, { count: String(attention.disputes.length) }),
            text: fill(first.due_at ? disputes.due : disputes.text, {
              amount: disputeSum(attention),
              date: first.due_at ? dates.date(first.due_at) : '',
            }),
            act: money(disputes.act, '/disputes'),
          },
        ]
      : []),
    ...(attention.refundsToAct > 0
      ? [
          {
            title: fill(refunds.title, { count: String(attention.refundsToAct) }),
            text: refunds.text,
            act: money(refunds.act, '/refunds?state=needs_action'),
          },
        ]
      : []),
    ...(attention.approvals > 0
      ? [
          {
            title: fill(approvals.title, { count: String(attention.approvals) }),
            text: approvals.text,
            act: money(approvals.act, '/refunds'),
          },
        ]
      : []),
  ]
}

// Sums by currency: GHS 60.00, XOF 500.
export function disputeSum({ disputes }: Attention): string {
  const sums = new Map<string, bigint>()
  for (const { currency, amount } of disputes) sums.set(currency, (sums.get(currency) ?? 0n) + amount)
  return [...sums].map(([currency, sum]) => moneyText(currency, sum)).join(', ')
}

const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).host : url)
