import { type Child, type PropsWithChildren, raw } from '../../core/markup/jsx-runtime.ts'
import { CodeBlock, FormToken, Icon, PageFrame, SiteHeader, type SitePlace } from '../../core/markup/page.tsx'
import { initialsOf } from '../../core/merchant/branding.ts'
import type { Payment } from '../../core/payment/payment.ts'
import { moneyText } from '../../core/timeline/history.ts'
import type { Article, DemoShop, ShopEnding } from './demoShop.ts'
import { Panel, type PanelProps, panelUrl } from './panel.tsx'
import type { ShopAssets } from './shopAssets.ts'
import { isOver } from './steps.ts'

const refreshSeconds = 5 // without scripts, until the order is over

type FrameProps = PropsWithChildren<{
  title: string
  assets: ShopAssets
  places: readonly SitePlace[]
  head?: Child
}>

const ShopFrame = ({ title, assets, places, head, children }: FrameProps) => (
  <PageFrame
    lang="en"
    title={title}
    styles={[assets.css]}
    isListed
    head={
      <>
        <link rel="icon" href={assets.icon} />
        <script src={assets.copy} defer></script>
        {head}
      </>
    }
    header={
      <>
        <p class="test">Test mode: no real money moves</p>
        <SiteHeader places={places} current="shop" />
      </>
    }
  >
    {children}
  </PageFrame>
)

export type ShopPageProps = Omit<FrameProps, 'children' | 'title' | 'head'> &
  PanelProps & {
    shop: Pick<DemoShop, 'articles' | 'endings'>
    name: string
    formToken: string
    ending?: string
    fault?: string
  }

// The demo shop: three articles, the choice of the ending, and beside it what happens.
export const ShopPage = (props: ShopPageProps) => {
  const { shop, name, assets, places, order, now, formToken, fault } = props
  const refresh = order && !isOver(order)
  return (
    <ShopFrame
      title={name}
      assets={assets}
      places={places}
      head={
        <>
          <script src={assets.live} defer></script>
          {refresh && (
            <noscript>
              <meta http-equiv="refresh" content={`${refreshSeconds}; url=${panelUrl(order.payment, now)}`} />
            </noscript>
          )}
        </>
      }
    >
      <main class="page shop">
        <div class="sell">
          <div class="intro">
            <span class="mark us big" aria-hidden="true">
              {initialsOf(name)}
            </span>
            <div>
              <h1>{name}</h1>
              <p class="muted">Buy something and watch every step.</p>
            </div>
          </div>
          {fault && <Fault text={fault} />}
          <div id="verdict">{order && <OrderNotice payment={order.payment} formToken={formToken} />}</div>
          <form method="post" action="/shop/buy" class="buy">
            <FormToken token={formToken} />
            <ul class="articles">
              {shop.articles.map(article => (
                <ArticleCard article={article} picture={assets.pictures[article.id] ?? ''} />
              ))}
            </ul>
            {shop.endings.length > 0 && <Endings endings={shop.endings} chosen={props.ending} />}
          </form>
        </div>
        <Panel order={order} now={props.now} hasInbox={props.hasInbox} />
        <NextLinks isOperatorHere={props.hasInbox} />
      </main>
    </ShopFrame>
  )
}

const ArticleCard = ({ article, picture }: { article: Article; picture: string }) => (
  <li class="card article">
    <img src={picture} width="208" height="152" alt="" />
    <div class="text">
      <h2>{article.name}</h2>
      <p class="muted small">{article.about}</p>
      <p class="price num">GHS {article.total}</p>
    </div>
    <button
      type="submit"
      class="btn"
      name="article"
      value={article.id}
      aria-label={`Buy the ${article.name.toLowerCase()} for GHS ${article.total}`}
    >
      Buy
    </button>
  </li>
)

const Endings = ({ endings, chosen }: { endings: readonly ShopEnding[]; chosen?: string }) => {
  const selected = endings.some(({ id }) => id === chosen) ? chosen : endings[0]?.id
  return (
    <fieldset class="ends">
      <legend>How should it end?</legend>
      <div class="row">
        {endings.map(({ id, label }) => (
          <label class="chip try">
            <input type="radio" name="ending" value={id} checked={id === selected} />
            <Icon name="check" />
            {label}
          </label>
        ))}
      </div>
    </fieldset>
  )
}

// The result first. The payment's status is that of the gateway, so this never claims too much.
export const OrderNotice = ({ payment, formToken }: { payment: Payment; formToken: string }) => {
  const { status, description, refunded_amount } = payment
  if (status === 'awaiting_payment') return null
  const isPaid = status === 'paid'
  const isRefunded = refunded_amount !== null && refunded_amount >= payment.total
  const title = isRefunded
    ? 'Refunded'
    : isPaid
      ? 'Paid. Thank you'
      : status === 'cancelled'
        ? 'Cancelled'
        : 'Not paid'
  return (
    <section class={isPaid ? 'notice ok' : 'notice'}>
      <Icon name={isPaid ? 'check' : 'alert'} />
      <div>
        <h2>{title}</h2>
        <p>
          {isRefunded
            ? `The shop has returned ${moneyText(payment.currency, refunded_amount)}.`
            : isPaid
              ? `The shop has ${moneyText(payment.currency, payment.charged ?? payment.total)} for the ${(description ?? '').toLowerCase()}.`
              : 'Nothing was taken. Buy again to try another ending.'}
        </p>
        {isPaid && refunded_amount === null && <RefundForm payment={payment} formToken={formToken} />}
      </div>
    </section>
  )
}

const RefundForm = ({ payment, formToken }: { payment: Payment; formToken: string }) => (
  <form method="post" action={`/shop/refund?order=${payment.invoice_id}`} class="refund">
    <FormToken token={formToken} />
    <button type="submit" class="btn plain small">
      Refund it
    </button>
  </form>
)

const Fault = ({ text }: { text: string }) => (
  <section class="notice bad" role="alert">
    <Icon name="stop" />
    <div>
      <h2>The request was refused</h2>
      <p>{text}</p>
    </div>
  </section>
)

const pictograms = {
  code: raw('<path d="M6.5 6l-4 4 4 4M13.500 6l4 4-4 4M11.500 4l-3 12"/>'),
  page: raw('<path d="M5 2.500h6.500L15.500 6.500v11H5zM11.500 2.500v4h4M7.500 10.500h5M7.500 13.500h5"/>'),
  tiles: raw('<path d="M3 3h6v6H3zM11 3h6v6h-6zM3 11h6v6H3zM11 11h6v6h-6z"/>'),
}

// The dashboard is shown to a visitor who may be the operator.
const NextLinks = ({ isOperatorHere }: { isOperatorHere: boolean }) => (
  <nav class="next" aria-label="Next">
    <NextLink
      href="/shop/code"
      picture={pictograms.code}
      title="Read this shop’s code"
      text="About 150 lines on our SDK. Copy it and it works."
    />
    <NextLink
      href="/docs/quickstart"
      picture={pictograms.page}
      title="Start your own shop"
      text="From an empty folder to paid in 15 minutes."
    />
    {isOperatorHere && (
      <NextLink
        href="/shop/merchant"
        picture={pictograms.tiles}
        title="See it as the merchant"
        text="The same payment in the dashboard."
      />
    )}
  </nav>
)

type NextProps = { href: string; picture: Child; title: string; text: string }

const NextLink = ({ href, picture, title, text }: NextProps) => (
  <a href={href}>
    <svg class="i" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      {picture}
    </svg>
    <b>{title}</b>
    <span class="small muted">{text}</span>
  </a>
)

type CodePageProps = Omit<FrameProps, 'children' | 'title' | 'head'> &
  Pick<DemoShop, 'code'> & { baseUrl: string }

// The files of examples/shop, as this gateway runs them.
export const CodePage = ({ code, baseUrl, assets, places }: CodePageProps) => (
  <ShopFrame title="The code of this shop" assets={assets} places={places}>
    <main class="page source">
      <h1>The code of this shop</h1>
      <p>
        This gateway runs <code>shop.js</code> itself. It is a merchant like any other: it stores the order,
        signs the request with the SDK, is notified, and asks for the status before it believes anything.
      </p>
      <p>
        <code>server.js</code> serves the same shop on a port of its own, for any gateway:
      </p>
      <CodeBlock
        code={`TOLLGATE_URL=${baseUrl} TOLLGATE_MERCHANT_KEY=tk_... TOLLGATE_MERCHANT_SECRET=... TOLLGATE_IPN_SECRET=whsec_... node server.js`}
      />
      {code.map(({ name, text }) => (
        <>
          <h2>{name}</h2>
          <CodeBlock code={text} />
        </>
      ))}
      <p>
        <a class="btn plain" href="/">
          Back to the shop
        </a>
      </p>
    </main>
  </ShopFrame>
)
