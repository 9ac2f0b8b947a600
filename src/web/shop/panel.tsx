import type { Child } from '../../core/markup/jsx-runtime.ts'
import { CodeBlock, Icon } from '../../core/markup/page.tsx'
import { moneyText } from '../../core/timeline/history.ts'
import type { Payment } from '../../core/payment/payment.ts'
import type { ReceivedNotification, SentRequest } from './demoShop.ts'
import { isOver, plannedSteps, type ShopStep } from './steps.ts'

// The panel "What happens": the steps of the visitor's own order, or what will happen.
export type PanelProps = {
  order?: { payment: Payment; steps: readonly ShopStep[] }
  now: Date
  hasInbox: boolean // the visitor may be its operator: only this machine reaches the gateway
}

export const panelId = 'happens'

// The address that reads the panel again. It contains the time, because a browser that follows a link to its present
// address with a fragment only scrolls.
export const panelUrl = ({ invoice_id }: Payment, now: Date) =>
  `/?order=${invoice_id}&at=${now.getTime()}#${panelId}`

// The script /shop/live.js replaces the parts that have changed. `data-live` is where it reads them, `data-over` ends it.
export const Panel = ({ order, now, hasInbox }: PanelProps) => {
  const steps = order?.steps ?? plannedSteps
  const over = order ? isOver(order) : true
  return (
    <section
      class="card roomy happens"
      id={panelId}
      aria-labelledby="happens-title"
      data-live={order ? `/shop/steps?order=${order.payment.invoice_id}` : '/shop/steps'}
      data-over={over ? '' : undefined}
    >
      <header>
        <h2 id="happens-title">What happens</h2>
        <span class="livenow" hidden>
          Updates by itself
        </span>
        {order && !over && (
          <a class="refresh" href={panelUrl(order.payment, now)}>
            Refresh
          </a>
        )}
      </header>
      {order ? <OrderLine payment={order.payment} /> : <p class="order muted">Nothing is bought yet.</p>}
      <ol class="timeline">
        {steps.map(step => (
          <StepItem step={step} now={now} hasInbox={hasInbox} payment={order?.payment} />
        ))}
      </ol>
    </section>
  )
}

const OrderLine = ({ payment }: { payment: Payment }) => (
  <p class="order">
    <span>
      <b>{payment.description}</b> <span class="muted small nowrap">{payment.invoice_id}</span>
    </span>
    <b class="num nowrap">{moneyText(payment.currency, payment.total)}</b>
  </p>
)

const marks = { done: 'check', no: 'cross', late: 'check' } as const
const spoken = { done: 'Done', now: 'Now', todo: 'To come', no: 'Failed', late: 'Late' } as const

type StepProps = { step: ShopStep; now: Date; hasInbox: boolean; payment?: Payment }

const StepItem = ({ step, now, hasInbox, payment }: StepProps) => {
  const { state, what, at, until, good, note, request, notification } = step
  const mark = state in marks ? marks[state as keyof typeof marks] : undefined
  return (
    <li class={state}>
      <span class="dot">{mark && <Icon name={mark} />}</span>
      <span class="what">
        <span class="sr">{spoken[state]}: </span>
        {what}
      </span>
      {at ? <Clock at={at} /> : until ? <TimeLeft until={until} now={now} /> : <span></span>}
      {(note || request || notification || step.link) && (
        <div class="note">
          {note && (
            <p>
              {good && <span class="ok-ink">{good}</span>}
              {note}
            </p>
          )}
          {request && <Request sent={request} />}
          {notification && <Notification received={notification} />}
          {step.link && <StepLink link={step.link} payment={payment} hasInbox={hasInbox} />}
        </div>
      )}
    </li>
  )
}

// In UTC; the script writes it in the visitor's own time zone.
const Clock = ({ at }: { at: Date }) => (
  <time datetime={at.toISOString()}>{at.toISOString().slice(11, 19)}</time>
)

const TimeLeft = ({ until, now }: { until: Date; now: Date }) => {
  const seconds = Math.max(0, Math.round((until.getTime() - now.getTime()) / 1000))
  const text = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} left`
  return <span class="left num">{text}</span>
}

type LinkProps = { link: NonNullable<ShopStep['link']>; payment?: Payment; hasInbox: boolean }

function StepLink({ link, payment, hasInbox }: LinkProps): Child {
  if (link === 'inbox') return hasInbox ? <a href="/inbox">Open the inbox</a> : null
  const [href, text] =
    link === 'checkout'
      ? [`/checkout/${payment?.tx_token ?? ''}`, 'Open the checkout']
      : [link.phone, 'Open the test phone']
  return (
    <p class="row">
      <a class="btn small" href={href}>
        {text}
      </a>
    </p>
  )
}

// The hash covers three fields of a payment request and four of a refund, in this order.
function signedText(body: string): { text: string; hash: string } {
  const { amount, invoice_id, merchant_key, refund_id, total, secure_hash }: Record<string, string> =
    JSON.parse(body)
  const text =
    refund_id === undefined
      ? `invoice_id=${invoice_id}&merchant_key=${merchant_key}&total=${total}`
      : `amount=${amount}&invoice_id=${invoice_id}&merchant_key=${merchant_key}&refund_id=${refund_id}`
  return { text, hash: secure_hash ?? '' }
}

const Request = ({ sent }: { sent: SentRequest }) => {
  const { text, hash } = signedText(sent.body)
  return (
    <>
      <p class="req">
        POST {new URL(sent.url).pathname}
        <br />
        {text.split('&').map((pair, at) => (
          <>
            {at > 0 && (
              <>
                &amp;
                <wbr />
              </>
            )}
            {pair}
          </>
        ))}
        <br />
        secure_hash=<b title={hash}>{`${hash.slice(0, 6)}…${hash.slice(-6)}`}</b>
      </p>
      <button type="button" class="btn plain small copy-curl" hidden>
        <Icon name="copy" />
        Copy as curl
      </button>
      <details>
        <summary>Show it as curl, and the answer</summary>
        <CodeBlock code={curlOf(sent)} />
        <p>
          The answer, {sent.http} in {sent.ms} ms:
        </p>
        <CodeBlock code={indented(sent.answer)} />
        <p>
          Send it again as often as you like: the same request gives the same answer, and nothing happens
          twice.
        </p>
      </details>
    </>
  )
}

export function curlOf({ url, body }: Pick<SentRequest, 'url' | 'body'>): string {
  const fields = indented(body).replaceAll('\n', '\n  ').replaceAll("'", `'\\''`)
  return `curl -sS '${url}' \\\n  -H 'Content-Type: application/json' \\\n  -d '${fields}'`
}

function indented(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), undefined, 2)
  } catch {
    return json
  }
}

const Notification = ({ received }: { received: ReceivedNotification }) => (
  <details>
    <summary>The notification, with its signature</summary>
    <CodeBlock
      code={[
        'POST /shop/ipn',
        ...Object.entries(received.headers).map(([name, value]) => `${name}: ${value}`),
        '',
        indented(received.body),
      ].join('\n')}
    />
    <p>The shop verified it, asked for the status, compared the amount and answered:</p>
    <CodeBlock code={received.answer} />
  </details>
)
