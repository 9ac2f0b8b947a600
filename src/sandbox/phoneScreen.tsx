import type { PropsWithChildren } from '../core/markup/jsx-runtime.ts'
import { FormToken, Sentence } from '../core/markup/page.tsx'
import { maskPhone } from '../core/mask.ts'
import type { Charge } from '../store/sandboxCharges.ts'
import { chargeMoney, type PageLanguage } from './page.tsx'

// The parts of the drawn phone.

type Operator = { name: string; network: string; badge: string; letters: string }

const operators: Readonly<Record<string, Operator>> = {
  mtn: { name: 'MTN MoMo', network: 'MTN', badge: 'mtn', letters: 'MTN' },
  telecel: { name: 'Telecel Cash', network: 'Telecel', badge: 'tel', letters: 'T' },
  at: { name: 'AT Money', network: 'AT', badge: 'at', letters: 'AT' },
  ghqr: { name: 'GhQR', network: '', badge: '', letters: 'QR' },
}
const noOperator: Operator = { name: '', network: '', badge: '', letters: '' }
const operatorOf = (method: string | undefined) => operators[method ?? ''] ?? noOperator

// Ghana is on UTC all year.
const timeOf = (at: Date) => at.toISOString().slice(11, 16)

type ScreenProps = PropsWithChildren<{ now: Date; method?: string; language: PageLanguage }>

// The phone, and below it what it is. `method` decides the network in the status bar.
export const Phone = ({ now, method, language, children }: ScreenProps) => {
  const { phone: t } = language.t.sandbox
  return (
    <figure class="handset">
      <div class="phone">
        <div class="screen">
          <div class="sys">
            <span>{timeOf(now)}</span>
            <span>{operatorOf(method).network}</span>
            <Signal />
            <Battery />
          </div>
          <p class="clock" aria-hidden="true">
            {timeOf(now)}
          </p>
          {children}
        </div>
      </div>
      {/* The page around the frame has the same text. */}
      {!language.framed && (
        <figcaption>
          <b>{t.title}</b>
          <span class="small muted">
            {t.rule} {t.not_real}
          </span>
        </figcaption>
      )}
    </figure>
  )
}

const Signal = () => (
  <svg viewBox="0 0 16 12" aria-hidden="true" focusable="false">
    <path d="M0 8h3v4H0zM4.500 5h3v7h-3zM9 2.500h3V12H9zM13 0h3v12h-3z" />
  </svg>
)

const Battery = () => (
  <svg viewBox="0 0 24 12" aria-hidden="true" focusable="false">
    <path
      d="M2.500 0h16A2.500 2.500 0 0 1 21 2.500v7a2.500 2.500 0 0 1-2.500 2.500h-16A2.500 2.500 0 0 1 0 9.500v-7A2.500 2.500 0 0 1 2.500 0zm0 1.500a1 1 0 0 0-1 1v7a1 1 0 0 0 1 1h16a1 1 0 0 0 1-1v-7a1 1 0 0 0-1-1zM3 3h11v6H3zM22 4h.5A1.500 1.500 0 0 1 24 5.500v1A1.500 1.500 0 0 1 22.500 8H22z"
      fill-rule="evenodd"
    />
  </svg>
)

const Sender = ({ method }: { method: string }) => {
  const { badge, letters, name } = operatorOf(method)
  return (
    <p class="from">
      <span class={`badge ${badge}`} aria-hidden="true">
        {letters}
      </span>
      {name}
    </p>
  )
}

type PromptProps = {
  charge: Charge
  language: PageLanguage
  address: string
  token: string
  isPinMissing?: boolean
}

// The USSD prompt. Cancel belongs to a form of its own, so that the Enter key in the PIN field sends and never cancels.
export const UssdPrompt = ({ charge, language, address, token, isPinMissing }: PromptProps) => {
  const { prompt: t } = language.t.sandbox
  const fault = isPinMissing && { 'aria-invalid': 'true', 'aria-describedby': 'pin-error' }
  return (
    <div class="ussd">
      <Sender method={charge.method} />
      <p>
        <Sentence
          text={t.message}
          amount={<b>{chargeMoney(charge, language)}</b>}
          shop={
            <b>
              <bdi>{charge.payee}</bdi>
            </b>
          }
        />
      </p>
      <form id="cancel" method="post" action={address}>
        <FormToken token={token} />
      </form>
      <form method="post" action={address} novalidate>
        <FormToken token={token} />
        <input type="hidden" name="asks_pin" value="1" />
        <label for="pin">{t.pin}</label>
        <input
          class="pin"
          id="pin"
          name="pin"
          type="password"
          inputmode="numeric"
          autocomplete="off"
          maxlength={6}
          required
          {...fault}
        />
        {isPinMissing && (
          <p class="fault" id="pin-error" role="alert">
            {t.missing}
          </p>
        )}
        <div class="acts">
          <button type="submit" form="cancel" name="decision" value="decline">
            {t.decline}
          </button>
          <button type="submit" name="decision" value="approve">
            {t.approve}
          </button>
        </div>
      </form>
    </div>
  )
}

// The message that the wallet sends afterwards.
export const ConfirmationSms = ({
  method,
  now,
  children,
}: PropsWithChildren<{ method: string; now: Date }>) => (
  <div class="ussd sms">
    <Sender method={method} />
    <p>{children}</p>
    <p class="time">SMS, {timeOf(now)}</p>
  </div>
)

// The wallet and what the payment is for.
export const ChargeFacts = ({ charge, language }: { charge: Charge; language: PageLanguage }) => {
  const { prompt: t } = language.t.sandbox
  return (
    <dl class="facts">
      {charge.payer && (
        <>
          <dt>{t.wallet}</dt>
          <dd>{maskPhone(`+${charge.payer}`)}</dd>
        </>
      )}
      {charge.note && (
        <>
          <dt>{t.note}</dt>
          <dd>
            <bdi>{charge.note}</bdi>
          </dd>
        </>
      )}
    </dl>
  )
}
