import type { Erasing } from '../../../actions/redaction/erasePerson.ts'
import type { FoundPerson } from '../../../actions/redaction/person.ts'
import type { Retention } from '../../../actions/redaction/retention.ts'
import type { PropsWithChildren } from '../../../core/markup/jsx-runtime.ts'
import { FormToken } from '../../../core/markup/page.tsx'
import { figureIn } from '../../../core/money.ts'
import { keptReasons } from '../../../core/redaction/keptReasons.ts'
import { fill } from '../../../core/text.ts'
import type { Lang } from '../../../core/languages/languages.ts'
import { zonedDayMinute } from '../frame/zonedTime.ts'
import { countText } from '../live/figures.ts'
import { OperatorPlacePage } from '../frame/frame.tsx'
import { operatorBase, type Visit } from '../route.ts'
import { privacyTexts } from './privacyTexts.ts'

const path = `${operatorBase}/people`
const time = (at: Date) => at.toISOString().slice(0, 16).replace('T', ' ')

type PageProps = PropsWithChildren<{
  visit: Visit
  typed?: string
  fault?: string
  retention?: Retention
  zone: string
}>

export const PeoplePage = ({ visit, typed = '', fault, retention, zone, children }: PageProps) => {
  const texts = privacyTexts[visit.lang]
  return (
    <OperatorPlacePage visit={visit} title={texts.title} place="people">
      <h1>{texts.title}</h1>
      <p class="muted">{texts.intro}</p>
      <section class="card roomy">
        <form method="post" action={`${path}/find`} class="stack">
          <div class="field">
            <label for="person">{texts.person}</label>
            <p class="hint" id="person-hint">
              {texts.personHint}
            </p>
            {fault && (
              <p class="fault" id="person-fault" role="alert">
                {fault}
              </p>
            )}
            <input
              class="input"
              id="person"
              name="person"
              value={typed}
              required
              maxlength={254}
              autocomplete="off"
              aria-describedby={fault ? 'person-hint person-fault' : 'person-hint'}
              aria-invalid={fault ? 'true' : undefined}
            />
          </div>
          <FormToken token={visit.formToken} />
          <button type="submit" class="btn small">
            {texts.find}
          </button>
        </form>
      </section>
      {children}
      <RetentionCard lang={visit.lang} retention={retention} zone={zone} />
    </OperatorPlacePage>
  )
}

type RetentionProps = { lang: Lang; retention?: Retention; zone: string }

const RetentionCard = ({ lang, retention, zone }: RetentionProps) => {
  const texts = privacyTexts[lang]
  if (!retention)
    return (
      <section class="card stack">
        <h2>{texts.retention}</h2>
        <p>{texts.retentionOff}</p>
      </section>
    )
  const { days, waiting, isMore, next } = retention
  const count = `${countText(waiting, lang)}${isMore ? '+' : ''}`
  return (
    <section class="card stack">
      <h2>{texts.retention}</h2>
      <p>{fill(texts.retentionOn, { days })}</p>
      <p>{waiting === 0 ? texts.noneWaits : fill(texts.waiting, { count })}</p>
      <p class="small muted">
        {next ? fill(texts.nextDue, { time: zonedDayMinute(next, zone, lang) }) : texts.noneDue}{' '}
        {texts.hourly}
      </p>
    </section>
  )
}

type FoundProps = { visit: Visit; typed: string; found: FoundPerson; fault?: string }

// The payments, without the person's data, and what can be done.
export const FoundCards = ({ visit, typed, found, fault }: FoundProps) => {
  const texts = privacyTexts[visit.lang]
  return (
    <>
      <section class="card stack">
        <h2>{texts.found}</h2>
        {found.payments.length === 0 ? (
          <div class="empty">
            <p>{texts.none}</p>
            <p class="small">{texts.noneHelp}</p>
          </div>
        ) : (
          <PaymentTable visit={visit} found={found} />
        )}
        {found.more && <p class="small muted">{texts.more}</p>}
        <form method="post" action={`${path}/export`}>
          <input type="hidden" name="person" value={typed} />
          <FormToken token={visit.formToken} />
          <button type="submit" class="btn plain small">
            {texts.export}
          </button>
        </form>
      </section>
      {visit.may('people.erase') && <EraseCard visit={visit} typed={typed} fault={fault} />}
    </>
  )
}

const PaymentTable = ({ visit, found }: Pick<FoundProps, 'visit' | 'found'>) => {
  const texts = privacyTexts[visit.lang]
  return (
    <table class="fold">
      <thead>
        <tr>
          <th>{texts.reference}</th>
          <th>{texts.merchant}</th>
          <th>{texts.when}</th>
          <th>{texts.status}</th>
          <th class="r">{texts.amount}</th>
        </tr>
      </thead>
      <tbody>
        {found.payments.map(payment => (
          <tr>
            <td class="num">{payment.tx_reference}</td>
            <td>{payment.merchant_id}</td>
            <td class="num">{time(payment.created_at)}</td>
            <td>{texts.statuses[payment.status]}</td>
            <td class="r">
              {payment.currency} {figureIn(payment.total, payment.currency)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const EraseCard = ({ visit, typed, fault }: Omit<FoundProps, 'found'>) => {
  const texts = privacyTexts[visit.lang]
  return (
    <section class="card stack">
      <h2>{texts.eraseTitle}</h2>
      <p>{texts.eraseText}</p>
      <form method="post" action={`${path}/erase`} class="stack">
        {fault && (
          <p class="fault" role="alert">
            {fault}
          </p>
        )}
        <label>
          <input type="checkbox" name="sure" value="yes" /> {texts.confirm}
        </label>
        <input type="hidden" name="person" value={typed} />
        <FormToken token={visit.formToken} />
        <button type="submit" class="btn danger small">
          {texts.erase}
        </button>
      </form>
    </section>
  )
}

type ErasedProps = { visit: Visit; erasing: Erasing; progress: string | undefined } // progress: until it has finished

export const ErasedCard = ({ visit, erasing, progress }: ErasedProps) => {
  const texts = privacyTexts[visit.lang]
  const { person, done, kept } = erasing
  return (
    <section class="card stack" role="status">
      <h2>{fill(texts.erased, { count: done.payments })}</h2>
      {done.texts > 0 && <p>{fill(texts.erasedTexts, { count: done.texts })}</p>}
      <p>{progress ? texts.continues : texts.finished}</p>
      {progress && (
        <form method="post" action={`${path}/erase`}>
          <input type="hidden" name="person" value={person.value} />
          <input type="hidden" name="sure" value="yes" />
          <input type="hidden" name="progress" value={progress} />
          <FormToken token={visit.formToken} />
          <button type="submit" class="btn small">
            {texts.continue}
          </button>
        </form>
      )}
      {kept.length > 0 && (
        <table class="fold">
          <thead>
            <tr>
              <th>{texts.kept}</th>
              <th>{texts.because}</th>
            </tr>
          </thead>
          <tbody>
            {kept.map(one => (
              <tr>
                <td class="num">{one.tx_reference}</td>
                <td>{keptReasons[one.because][visit.lang]}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}
