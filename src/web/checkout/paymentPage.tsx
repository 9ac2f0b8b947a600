import type { PropsWithChildren } from 'hono/jsx'
import type { Exit } from './exit.ts'
import { Page } from './page.tsx'
import { linkTo, titleOf, type View, versionOf } from './view.ts'

type PaymentPageProps = PropsWithChildren<{
  view: View
  title: string
  path?: string // of this page under the payment's address
  query?: Record<string, string>
  poll?: number // the script asks every so many seconds whether something has changed
  refresh?: number // without scripts the page loads itself anew
  go?: { exit: Exit | undefined; seconds: number } // leave for the shop, if it is the merchant's own
}>

// The frame with a payment in it.
export const PaymentPage = (props: PaymentPageProps) => {
  const { view, title, path, query, poll, refresh, go, children } = props
  const { checkout, lang, t } = view
  const url = go?.exit?.known ? go.exit.url : undefined
  const script = {
    ...(poll && { 'data-poll': poll, 'data-state': linkTo(view, '/state'), 'data-version': versionOf(view) }),
    ...(poll && { 'data-lost': t.frame.lost }),
    ...(url && { 'data-go': url, 'data-after': go?.seconds }),
  }
  return (
    <Page
      title={titleOf(view, title)}
      lang={lang}
      inLang={other => linkTo({ ...view, asked: other }, path, query)}
      test={checkout.mode === 'test'}
      shop={checkout.merchant_name}
      reference={checkout.tx_reference}
      refresh={go && url ? { seconds: go.seconds, url } : refresh ? { seconds: refresh } : undefined}
      script={script}
    >
      {children}
    </Page>
  )
}
