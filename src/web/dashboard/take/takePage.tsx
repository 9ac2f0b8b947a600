import type { TakenDay } from '../../../actions/takenPayments/followTaken.ts'
import type { TakenFault, TakenInput, TakingTerms } from '../../../actions/takenPayments/takePayment.ts'
import { leastIn, mostIn } from '../../../core/merchant/totalLimit.ts'
import { defaultCurrency, isCurrency } from '../../../core/money.ts'
import { FormToken, Icon, Sentence } from '../../../core/markup/page.tsx'
import { fill } from '../../../core/text.ts'
import type { MerchantVisit } from '../route.ts'
import { clockTime, CounterPage, moneyFor, TakenPill, textsOf } from './takeParts.tsx'
import type { TakeTexts } from './takeTexts.ts'

export type FormProblem = { field: TakenFault } | { refused: keyof TakeTexts['refused'] } | { usedBy: string } // the reference of the payment that the form has made

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
      <p>
        {'usedBy' in problem ? <Sentence text={texts.used} link={link} /> : texts.refused[problem.refused]}
      </p>
    </div>
  )
}

// What the fields of the form share: the input, and the message beside the field that has one.
type FieldProps = Omit<FormProps, 'problem'> & { faulty: TakenFault | undefined }

const TakeForm = ({ problem, ...props }: FormProps) => {
  const { visit, input } = props
  const texts = textsOf(visit)
  const fields = { ...props, faulty: problem && 'field' in problem ? problem.field : undefined }
  return (
    <form method="post" action={`${visit.base}/take`} class="counter" data-counter>
      <FormToken token={visit.formToken} />
      <input type="hidden" name="form_id" value={input.form_id} />
      <AmountField {...fields} />
      <PhoneField {...fields} />
      <div class="pair">
        <OutletField {...fields} />
        <DescriptionField {...fields} />
      </div>
      <EmailField {...fields} />
      <button type="submit" class="btn big wide" data-ask={texts.askFor}>
        {texts.ask}
      </button>
    </form>
  )
}

const currencyOf = ({ input, terms }: FieldProps) =>
  isCurrency(input.currency) ? input.currency : (terms.settings.currencies[0] ?? defaultCurrency)

const Fault = ({ field, ...props }: FieldProps & { field: TakenFault }) => {
  if (props.faulty !== field) return null
  const { visit, terms } = props
  const currency = currencyOf(props)
  const least = moneyFor(visit, leastIn(terms.settings.min_total, currency), currency)
  const most = moneyFor(visit, mostIn(terms.settings.max_total, currency), currency)
  return (
    <p class="fault" id={`${field}-fault`} role="alert">
      {fill(textsOf(visit).faults[field], { least, most })}
    </p>
  )
}

const stateOf = (field: TakenFault, { faulty }: FieldProps, hint?: string) => ({
  'aria-invalid': faulty === field ? 'true' : undefined,
  'aria-describedby': faulty === field ? `${field}-fault` : hint,
  autofocus: faulty === field || undefined,
})

const AmountField = (props: FieldProps) => {
  const { visit, terms, input, faulty } = props
  return (
    <section class="card amount-field">
      <label for="total">{textsOf(visit).amount}</label>
      <div class="big">
        <CurrencyField visit={visit} currencies={terms.settings.currencies} chosen={currencyOf(props)} />
        <input
          id="total"
          name="total"
          inputmode="decimal"
          autocomplete="off"
          required
          maxlength={16}
          placeholder="0.00"
          value={input.total}
          {...stateOf('total', props)}
          autofocus={faulty === 'total' || !faulty || undefined}
        />
      </div>
      <Fault field="total" {...props} />
    </section>
  )
}

const PhoneField = (props: FieldProps) => {
  const { visit, input } = props
  const texts = textsOf(visit)
  return (
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
          {...stateOf('phone', props, 'phone-hint')}
        />
        <span class="badge" data-network hidden aria-hidden="true"></span>
      </div>
      <Fault field="phone" {...props} />
      <p class="hint" id="phone-hint">
        {texts.phoneHint}
      </p>
    </div>
  )
}

const DescriptionField = (props: FieldProps) => (
  <div class="field">
    <label for="description">{textsOf(props.visit).for}</label>
    <input
      class="input"
      id="description"
      name="description"
      autocomplete="off"
      maxlength={500}
      value={props.input.description}
      {...stateOf('description', props)}
    />
    <Fault field="description" {...props} />
  </div>
)

const EmailField = (props: FieldProps) => {
  const { visit, input, faulty } = props
  const texts = textsOf(visit)
  return (
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
          {...stateOf('email', props, 'email-hint')}
        />
        <Fault field="email" {...props} />
        <p class="hint" id="email-hint">
          {texts.emailHint}
        </p>
      </div>
    </details>
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

const OutletField = (props: FieldProps) => {
  const { visit, terms, input } = props
  const texts = textsOf(visit)
  if (terms.outlets.length === 0) return null
  return (
    <div class="field">
      <label for="outlet">{texts.outlet}</label>
      <div class="input">
        <select id="outlet" name="outlet" {...stateOf('outlet', props)}>
          {!visit.outlets && <option value="">{texts.noOutlet}</option>}
          {terms.outlets.map(({ code, name }) => (
            <option value={code} selected={code === input.outlet}>
              {name}
            </option>
          ))}
        </select>
        <Icon name="down" />
      </div>
      <Fault field="outlet" {...props} />
    </div>
  )
}

type TodayProps = { visit: MerchantVisit; day: TakenDay; timeZone: string }

const Today = ({ visit, day: { rows, paid, sums, isMore, outlet }, timeZone }: TodayProps) => {
  const texts = textsOf(visit)
  const me = visit.signedIn.user.user_id
  return (
    <section class="card" aria-labelledby="today">
      <header>
        <h2 id="today">{outlet ? fill(texts.outletToday, { outlet }) : texts.today}</h2>
        {rows.length > 0 && (
          <span class="muted small num">{paidSentence(visit, { paid, sums, isMore })}</span>
        )}
      </header>
      {rows.length === 0 ? (
        <p class="muted">{outlet ? texts.noneAtOutlet : texts.noneToday}</p>
      ) : (
        <ul class="recent">
          {rows.map(row => (
            <li>
              <span class="num">{clockTime(row.created_at, timeZone)}</span>
              {row.user_id === me ? (
                <a class="num" href={`${visit.base}/take/${row.tx_reference}`}>
                  <b>{moneyFor(visit, row.total, row.currency)}</b>
                </a>
              ) : (
                <b class="num">{moneyFor(visit, row.total, row.currency)}</b>
              )}
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
