import type { TakenDay } from '../../../actions/takenPayments/followTaken.ts'
import type { TakenFault, TakenInput, TakingTerms } from '../../../actions/takenPayments/takePayment.ts'
import { leastIn, mostIn } from '../../../core/merchant/totalLimit.ts'
import { isCurrency } from '../../../core/money.ts'
import { type Child } from '../../../core/markup/jsx-runtime.ts'
import { FormToken, Icon, Sentence } from '../../../core/markup/page.tsx'
import { fill } from '../../../core/text.ts'
import type { MerchantVisit } from '../route.ts'
import { clockTime, CounterPage, moneyFor, TakenPill, textsOf } from './takeParts.tsx'
import type { TakeTexts } from './takeTexts.ts'

export type FormProblem =
  | { field: TakenFault }
  | { refused: keyof TakeTexts['refused'] }
  | { usedBy: string } // the reference of the payment that the form has made

type FormProps = {
  visit: MerchantVisit
  terms: TakingTerms
  input: TakenInput
  problem?: FormProblem
}

type TakeProps = FormProps & { day: TakenDay; timeZone: string }

// The amount, the phone and the button; below it, what this user has taken today.
export const TakePage = ({ visit, terms, input, problem, day, timeZone }: TakeProps) => {
  const texts = textsOf(visit)
  return (
    <CounterPage visit={visit} title={texts.title}>
      <h1 class="sr">{texts.title}</h1>
      <Problem visit={visit} problem={problem} />
      <TakeForm visit={visit} terms={terms} input={input} problem={problem} />
      <Today visit={visit} day={day} timeZone={timeZone} />
    </CounterPage>
  )
}

const Problem = ({ visit, problem }: Pick<FormProps, 'visit' | 'problem'>) => {
  const texts = textsOf(visit)
  if (!problem || 'field' in problem) return null
  const link =
    'usedBy' in problem ? <a href={`${visit.base}/take/${problem.usedBy}`}>{texts.usedLink}</a> : ''
  return (
    <div class="notice bad" role="alert">
      <Icon name="alert" />
      <p>{'usedBy' in problem ? <Sentence text={texts.used} link={link} /> : texts.refused[problem.refused]}</p>
    </div>
  )
}

const TakeForm = ({ visit, terms, input, problem }: FormProps) => {
  const texts = textsOf(visit)
  const { currencies } = terms.settings
  const faulty = problem && 'field' in problem ? problem.field : undefined
  const currency = isCurrency(input.currency) ? input.currency : currencies[0]
  const limits = currency && {
    least: moneyFor(visit, leastIn(terms.settings.min_total, currency), currency),
    most: moneyFor(visit, mostIn(terms.settings.max_total, currency), currency),
  }
  const fault = (field: TakenFault) =>
    faulty === field && (
      <p class="fault" id={`${field}-fault`} role="alert">
        {fill(texts.faults[field], limits ?? {})}
      </p>
    )
  const wrong = (field: TakenFault, hint?: string) => ({
    'aria-invalid': faulty === field ? 'true' : undefined,
    'aria-describedby': faulty === field ? `${field}-fault` : hint,
    autofocus: faulty === field || undefined,
  })
  return (
    <form method="post" action={`${visit.base}/take`} class="counter" data-counter>
      <FormToken token={visit.formToken} />
      <input type="hidden" name="form_id" value={input.form_id} />
      <section class="card amount-field">
        <label for="total">{texts.amount}</label>
        <div class="big">
          <CurrencyField visit={visit} currencies={currencies} chosen={currency} />
          <input
            id="total"
            name="total"
            inputmode="decimal"
            autocomplete="off"
            required
            maxlength={16}
            placeholder="0.00"
            value={input.total}
            {...wrong('total')}
            autofocus={faulty === 'total' || !faulty || undefined}
          />
        </div>
        {fault('total')}
      </section>
      <div class="field">
        <label for="phone">{texts.phone}</label>
        <div class="input">
          <input
            id="phone"
            name="phone"
            type="tel"
            inputmode="tel"
            autocomplete="off"
            maxlength={32}
            value={input.phone}
            {...wrong('phone', 'phone-hint')}
          />
          <span class="badge" data-network hidden aria-hidden="true"></span>
        </div>
        {fault('phone') || (
          <p class="hint" id="phone-hint">
            {texts.phoneHint}
          </p>
        )}
      </div>
      <div class="pair">
        <OutletField visit={visit} terms={terms} chosen={input.outlet} fault={fault('outlet')} />
        <div class="field">
          <label for="description">{texts.for}</label>
          <input
            class="input"
            id="description"
            name="description"
            autocomplete="off"
            maxlength={500}
            value={input.description}
            {...wrong('description')}
          />
          {fault('description')}
        </div>
      </div>
      <details class="more-fields" open={input.email !== '' || faulty === 'email' || undefined}>
        <summary>{texts.email}</summary>
        <div class="field">
          <label class="sr" for="email">
            {texts.email}
          </label>
          <input
            class="input"
            id="email"
            name="email"
            type="email"
            inputmode="email"
            autocomplete="off"
            maxlength={254}
            value={input.email}
            {...wrong('email', 'email-hint')}
          />
          {fault('email') || (
            <p class="hint" id="email-hint">
              {texts.emailHint}
            </p>
          )}
        </div>
      </details>
      <button type="submit" class="btn big wide" data-ask={texts.askFor}>
        {texts.ask}
      </button>
    </form>
  )
}

type CurrencyProps = { visit: MerchantVisit; currencies: readonly string[]; chosen: string | undefined }

const CurrencyField = ({ visit, currencies, chosen }: CurrencyProps) =>
  currencies.length < 2 ? (
    <>
      <span data-currency>{currencies[0]}</span>
      <input type="hidden" name="currency" value={currencies[0]} />
    </>
  ) : (
    <>
      <label class="sr" for="currency">
        {textsOf(visit).currency}
      </label>
      <select id="currency" name="currency" data-currency>
        {currencies.map(code => (
          <option value={code} selected={code === chosen}>
            {code}
          </option>
        ))}
      </select>
    </>
  )

type OutletProps = Pick<FormProps, 'visit' | 'terms'> & { chosen: string; fault: Child }

const OutletField = ({ visit, terms: { outlets }, chosen, fault }: OutletProps) => {
  const texts = textsOf(visit)
  if (outlets.length === 0) return null
  return (
    <div class="field">
      <label for="outlet">{texts.outlet}</label>
      <div class="input">
        <select id="outlet" name="outlet">
          {!visit.outlets && <option value="">{texts.noOutlet}</option>}
          {outlets.map(({ code, name }) => (
            <option value={code} selected={code === chosen}>
              {name}
            </option>
          ))}
        </select>
        <Icon name="down" />
      </div>
      {fault}
    </div>
  )
}

type TodayProps = { visit: MerchantVisit; day: TakenDay; timeZone: string }

const Today = ({ visit, day: { rows, paid, sums, isMore }, timeZone }: TodayProps) => {
  const texts = textsOf(visit)
  return (
    <section class="card" aria-labelledby="today">
      <header>
        <h2 id="today">{texts.today}</h2>
        {rows.length > 0 && (
          <span class="muted small num">
            {paidSentence(visit, { paid, sums, isMore })}
          </span>
        )}
      </header>
      {rows.length === 0 ? (
        <p class="muted">{texts.noneToday}</p>
      ) : (
        <ul class="recent">
          {rows.map(row => (
            <li>
              <span class="num">{clockTime(row.created_at, timeZone)}</span>
              <a class="num" href={`${visit.base}/take/${row.tx_reference}`}>
                <b>{moneyFor(visit, row.total, row.currency)}</b>
              </a>
              <TakenPill
                visit={visit}
                status={row.status}
                isExpired={row.status === 'awaiting_payment' && row.expires_at <= visit.now}
              />
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

// 23 paid, GHS 1,204.00
export function paidSentence(
  visit: MerchantVisit,
  { paid, sums, isMore }: Pick<TakenDay, 'paid' | 'sums' | 'isMore'>,
): string {
  const texts = textsOf(visit)
  const count = isMore ? texts.moreToday : paid === 1 ? texts.paidToday.one : texts.paidToday.other
  const amounts = sums.map(({ currency, total }) => moneyFor(visit, total, currency))
  return [fill(count, { count: paid }), ...amounts].join(', ')
}
