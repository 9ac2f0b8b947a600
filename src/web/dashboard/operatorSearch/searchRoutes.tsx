import { nameMerchants } from '../../../actions/merchants/setMerchant.ts'
import { searchByText } from '../../../actions/payments/searchPayments.ts'
import type { Lang } from '../../../core/languages/languages.ts'
import { maskEmail, maskPhone } from '../../../core/mask.ts'
import type { Mode } from '../../../core/mode.ts'
import { Icon } from '../../../core/markup/page.tsx'
import type { Status } from '../../../core/payment/payment.ts'
import { moneyText } from '../../../core/timeline/history.ts'
import { fill, isPlainText } from '../../../core/text.ts'
import type { AreaDeps } from '../areaDeps.ts'
import { OperatorPlacePage, sendDashboardPage } from '../frame/frame.tsx'
import { frameTexts } from '../frame/frameTexts.ts'
import { zonedDayMinute } from '../frame/zonedTime.ts'
import { merchantBase, type OperatorRoute, type Visit } from '../route.ts'

const texts = {
  en: {
    none: 'No payment fits “{query}”. Search for a reference, an invoice id, a phone or wallet number, an email address, or the reference of a provider.',
    what: 'Search for a reference, an invoice id, a phone or wallet number, an email address, or the reference of a provider.',
    found: 'Payments for “{query}”',
    more: 'There are older ones. Search for an invoice id or a reference to see one of them.',
    invoice: 'Invoice',
    amount: 'Amount',
    merchant: 'Merchant',
    status: 'Status',
    customer: 'Customer',
    time: 'Time',
  },
  fr: {
    none: 'Aucun paiement ne correspond à « {query} ». Recherchez une référence, une facture, un numéro de téléphone ou de compte mobile money, un e-mail ou la référence d’un prestataire.',
    what: 'Recherchez une référence, une facture, un numéro de téléphone ou de compte mobile money, un e-mail ou la référence d’un prestataire.',
    found: 'Paiements pour « {query} »',
    more: 'Il y en a de plus anciens. Recherchez une facture ou une référence pour en voir un.',
    invoice: 'Facture',
    amount: 'Montant',
    merchant: 'Marchand',
    status: 'Statut',
    customer: 'Client',
    time: 'Heure',
  },
} satisfies Record<Lang, Record<string, string>>

const maxQuery = 200

// Finds a payment of any merchant, as the support page does, and leads to the page that its merchant sees.
export const searchRoutes = ({ runtime }: AreaDeps): OperatorRoute[] => [
  {
    method: 'get',
    path: '/search',
    permission: 'merchants.view',
    async handle(c, visit) {
      const typed = (c.req.query('q') ?? '').trim().slice(0, maxQuery)
      const query = isPlainText(typed) ? typed : ''
      const { payments, more } = query
        ? await searchByText(visit.db, query, undefined, visit.now)
        : { payments: [], more: false }
      const [only, ...others] = payments
      if (only && others.length === 0) return c.redirect(pathOf(only), 303)
      const found = await nameMerchants(visit.db, payments)
      return sendDashboardPage(
        c,
        <SearchedPage visit={visit} query={query} payments={found} more={more} zone={runtime.timeZone} />,
        query && payments.length === 0 ? 404 : 200,
      )
    },
  },
]

type Found = Awaited<ReturnType<typeof searchByText>>['payments'][number] & { merchant_name: string }

const pathOf = ({
  merchant_id,
  mode,
  tx_reference,
}: Pick<Found, 'merchant_id' | 'tx_reference'> & { mode: Mode }) =>
  `${merchantBase(merchant_id, mode)}/payments/${tx_reference}`

const customerOf = ({ number, email }: Found) => (number ? maskPhone(number) : email ? maskEmail(email) : '')

type SearchedProps = {
  visit: Visit
  query: string
  payments: readonly Found[]
  more: boolean
  zone: string
}

const SearchedPage = ({ visit, query, payments, more, zone }: SearchedProps) => {
  const words = texts[visit.lang]
  return (
    <OperatorPlacePage visit={visit} title={frameTexts[visit.lang].findPayment} searched={query}>
      <section class="card">
        {payments.length === 0 ? (
          <>
            <header>
              <h1>{frameTexts[visit.lang].findPayment}</h1>
            </header>
            <p class="empty">
              <span>{query ? fill(words.none, { query }) : words.what}</span>
            </p>
          </>
        ) : (
          <>
            <header>
              <h1>{fill(words.found, { query })}</h1>
            </header>
            <table class="fold">
              <thead>
                <tr>
                  <th>{words.invoice}</th>
                  <th class="r">{words.amount}</th>
                  <th>{words.merchant}</th>
                  <th>{words.status}</th>
                  <th>{words.customer}</th>
                  <th class="r">{words.time}</th>
                </tr>
              </thead>
              <tbody>
                {payments.map(payment => (
                  <tr>
                    <td>
                      <a href={pathOf(payment)}>{payment.invoice_id}</a>
                    </td>
                    <td class="r">{moneyText(payment.currency, payment.total)}</td>
                    <td>
                      {payment.merchant_name}
                      {payment.mode === 'test' && <span class="muted"> (test)</span>}
                    </td>
                    <td>
                      <FoundStatus status={payment.status} lang={visit.lang} />
                    </td>
                    <td class="muted">{customerOf(payment)}</td>
                    <td class="r">{zonedDayMinute(payment.created_at, zone, visit.lang)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
            {more && <p class="muted small">{words.more}</p>}
          </>
        )}
      </section>
    </OperatorPlacePage>
  )
}

const pills = {
  awaiting_payment: ['wait', undefined, 'Awaiting payment', 'En attente'],
  paid: ['ok', 'check', 'Paid', 'Payé'],
  cancelled: ['', 'cross', 'Cancelled', 'Annulé'],
  failed: ['bad', 'cross', 'Failed', 'Échoué'],
} as const satisfies Record<Status, readonly [string, string | undefined, string, string]>

const FoundStatus = ({ status, lang }: { status: Status; lang: Lang }) => {
  const [tone, icon, en, fr] = pills[status]
  return (
    <span class={tone ? `pill ${tone}` : 'pill'}>
      {icon ? <Icon name={icon} /> : <span aria-hidden="true">…</span>}
      {lang === 'fr' ? fr : en}
    </span>
  )
}
