import type { Child, PropsWithChildren } from '../../../core/markup/jsx-runtime.ts'
import { Bill } from './bill.tsx'
import type { Exit } from './exit.ts'
import { Page } from './page.tsx'
import { linkTo, partOf, titleOf, type View, versionOf } from './view.ts'

const leaveAfterSeconds = 4 // enough to see the tick, and where it goes

type PaymentPageProps = PropsWithChildren<{
  view: View
  title: string
  head?: boolean // nothing has happened yet: the amount is the page's heading
  onPhone?: Child // how to go on there, in the column of the bill
  path?: string // of this page under the payment's address
  query?: Record<string, string>
  poll?: number // the script asks every so many seconds whether something has changed
  refresh?: number // without scripts the page loads itself anew
  form?: string // the id of a form whose fields go along into another language
  exit?: Exit // to the shop, where this page goes by itself if it saw the payment end
}>

// The frame with a payment in it.
export const PaymentPage = (props: PaymentPageProps) => {
  const { view, title, head, onPhone, path, query, poll, refresh, form, exit, children } = props
  const { checkout, lang, t } = view
  const url = view.leaves ? exit?.url : undefined
  const here = linkTo(view, path, query)
  const script = {
    ...(poll && { 'data-poll': poll, 'data-state': partOf(view, '/state'), 'data-version': versionOf(view) }),
    ...(poll && { 'data-here': here, 'data-lost': t.frame.lost, 'data-back': t.frame.back }),
    ...(url && { 'data-go': url, 'data-after': leaveAfterSeconds }),
  }
  return (
    <Page
      title={titleOf(view, title)}
      lang={lang}
      inLang={other => linkTo({ ...view, asked: other }, form ? '/words' : path, query)}
      form={form}
      test={checkout.mode === 'test'}
      shop={checkout.merchant_name}
      face={checkout.face}
      bill={<Bill view={view} head={head} onPhone={onPhone} />}
      reference={checkout.tx_reference}
      refresh={
        url ? { seconds: leaveAfterSeconds, url } : refresh ? { seconds: refresh, url: here } : undefined
      }
      script={script}
    >
      {children}
    </Page>
  )
}
