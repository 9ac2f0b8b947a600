import type { AuditPage } from '../../../actions/access/auditLog.ts'
import type { MerchantLogReport } from '../../../actions/access/auditSeal.ts'
import { hidesAddress, type StoredEntry } from '../../../core/access/audit.ts'
import { auditActor, auditChanges, auditSentence, auditTexts } from '../../../core/access/auditTexts.ts'
import type { Child, PropsWithChildren } from '../../../core/markup/jsx-runtime.ts'
import { FormToken } from '../../../core/markup/page.tsx'
import { fill } from '../../../core/text.ts'
import { storedText } from '../../../core/timeline/storedSentences.ts'
import { MerchantPage, OperatorPlacePage } from '../frame/frame.tsx'
import type { MerchantVisit, Visit } from '../route.ts'
import { auditPageTexts } from './auditPageTexts.ts'

export const auditFields = ['actor', 'subject', 'action', 'merchant', 'from', 'to'] as const
export type AuditField = (typeof auditFields)[number]
export type TypedSearch = Readonly<Record<AuditField, string>>

// The chain of seals, or the result of computing it again.
export type SealFacts = { number: number; until_at: Date; digest: string } | undefined
export type Verified =
  | { intact: true; rows: bigint; seals: number }
  | { intact: false; seal: number; entry: string | null; words: string }

type LogProps = {
  typed: TypedSearch
  page: AuditPage
  seal: SealFacts
  verified?: Verified
  wrongDates: readonly AuditField[]
  isFirst: boolean
}

const time = (at: Date) => at.toISOString().slice(0, 19).replace('T', ' ')

// The log of one merchant.
export const MerchantAuditPage = ({
  visit,
  report,
  ...log
}: LogProps & { visit: MerchantVisit; report?: MerchantLogReport }) => (
  <MerchantPage visit={visit} title={auditPageTexts[visit.lang].title} place="settings">
    <AuditLog
      visit={visit}
      path={`${visit.base}/settings/audit`}
      notice={report && <ReportNotice visit={visit} report={report} />}
      {...log}
    >
      <VerifyForm
        visit={visit}
        path={`${visit.base}/settings/audit`}
        label={auditPageTexts[visit.lang].verifyOwn}
      />
    </AuditLog>
  </MerchantPage>
)

// The whole log.
export const OperatorAuditPage = ({ visit, path, ...log }: LogProps & { visit: Visit; path: string }) => (
  <OperatorPlacePage visit={visit} title={auditPageTexts[visit.lang].title} place="audit">
    <AuditLog visit={visit} path={path} hasMerchants {...log}>
      <VerifyForm visit={visit} path={path} label={auditPageTexts[visit.lang].verify} />
    </AuditLog>
  </OperatorPlacePage>
)

const VerifyForm = ({ visit, path, label }: { visit: Visit; path: string; label: string }) => (
  <form method="post" action={`${path}/verify`}>
    <FormToken token={visit.formToken} />
    <button type="submit" class="btn plain small">
      {label}
    </button>
  </form>
)

type AuditLogProps = PropsWithChildren<
  LogProps & {
    visit: Visit
    path: string
    hasMerchants?: boolean
    notice?: Child
  }
>

const AuditLog = (props: AuditLogProps) => {
  const { visit, path, typed, page, seal, verified, wrongDates, isFirst, hasMerchants, notice, children } =
    props
  const texts = auditPageTexts[visit.lang]
  const query = (more: Record<string, string> = {}) => {
    const filled = Object.entries({ ...typed, ...more }).filter(([, value]) => value !== '')
    const text = new URLSearchParams(filled).toString()
    return text && `?${text}`
  }
  return (
    <>
      <h1>{texts.title}</h1>
      <p class="muted">{texts.intro}</p>
      {notice}
      {verified && <VerifiedNotice visit={visit} verified={verified} />}
      <SearchForm
        visit={visit}
        path={path}
        typed={typed}
        wrongDates={wrongDates}
        hasMerchants={hasMerchants}
      />
      <section class="card">
        {page.entries.length === 0 ? (
          <p class="empty">{texts.empty}</p>
        ) : (
          <EntryTable visit={visit} entries={page.entries} />
        )}
        <p class="pager">
          <a href={`${path}/export${query()}`}>{texts.export}</a>
          {!isFirst && <a href={`${path}${query()}`}>{texts.newest}</a>}
          {page.older && <a href={`${path}${query({ behind: page.older })}`}>{texts.older}</a>}
        </p>
      </section>
      <section class="card stack">
        <h2>{texts.seal}</h2>
        <p>
          {seal
            ? fill(texts.sealed, {
                until: `${time(seal.until_at)} UTC`,
                number: seal.number,
                digest: `${seal.digest.slice(0, 16)}…`,
              })
            : texts.unsealed}
        </p>
        {children}
      </section>
    </>
  )
}

const ReportNotice = ({ visit, report }: { visit: Visit; report: MerchantLogReport }) => {
  const texts = auditPageTexts[visit.lang]
  if (report.state === 'unsealed') return <p class="notice">{texts.unsealed}</p>
  if (report.state === 'intact')
    return (
      <p class="notice ok" role="status">
        {fill(texts.verifiedUpTo, { entries: report.entries, until: `${time(report.until_at)} UTC` })}
      </p>
    )
  return (
    <p class="notice bad" role="alert">
      {report.state === 'broken'
        ? fill(texts.broken, {
            seal: report.seal,
            entry: report.entry,
            words: storedText(report.words, visit.lang),
          })
        : fill(texts.brokenElsewhere, { seal: report.seal })}
    </p>
  )
}

const VerifiedNotice = ({ visit, verified }: { visit: Visit; verified: Verified }) => {
  const texts = auditPageTexts[visit.lang]
  return verified.intact ? (
    <p class="notice ok" role="status">
      {fill(texts.intact, { rows: String(verified.rows), seals: verified.seals })}
    </p>
  ) : (
    <p class="notice bad" role="alert">
      {fill(texts.broken, {
        seal: verified.seal,
        entry: verified.entry ?? texts.unknownEntry,
        words: storedText(verified.words, visit.lang),
      })}
    </p>
  )
}

type SearchProps = {
  visit: Visit
  path: string
  typed: TypedSearch
  wrongDates: readonly AuditField[]
  hasMerchants?: boolean
}

const SearchForm = ({ visit, path, typed, wrongDates, hasMerchants }: SearchProps) => {
  const texts = auditPageTexts[visit.lang]
  return (
    <form method="get" action={path} class="card audit-search" role="search" aria-label={texts.title}>
      <SearchField name="actor" label={texts.actor} hint={texts.actorHint} value={typed.actor} />
      <SearchField name="subject" label={texts.subject} hint={texts.subjectHint} value={typed.subject} />
      <div class="field">
        <label for="action">{texts.action}</label>
        <select class="input" id="action" name="action">
          <option value="">{texts.anyAction}</option>
          {Object.keys(auditTexts).map(action => (
            <option value={action} selected={action === typed.action}>
              {action}
            </option>
          ))}
        </select>
      </div>
      {hasMerchants && (
        <SearchField
          name="merchant"
          label={texts.merchant}
          hint={texts.merchantHint}
          value={typed.merchant}
        />
      )}
      {(['from', 'to'] as const).map(name => (
        <SearchField
          name={name}
          type="date"
          label={texts[name]}
          value={typed[name]}
          fault={wrongDates.includes(name) ? texts.dateFault : undefined}
        />
      ))}
      <div class="row">
        <button type="submit" class="btn small">
          {texts.search}
        </button>
        <a class="btn plain small" href={path}>
          {texts.clear}
        </a>
      </div>
    </form>
  )
}

type FieldProps = {
  name: AuditField
  label: string
  value: string
  hint?: string
  type?: 'text' | 'date'
  fault?: string
}

const SearchField = ({ name, label, value, hint, type = 'text', fault }: FieldProps) => (
  <div class="field">
    <label for={name}>{label}</label>
    {fault && (
      <p class="fault" id={`${name}-fault`}>
        {fault}
      </p>
    )}
    <input
      class="input"
      id={name}
      name={name}
      type={type}
      value={value}
      placeholder={hint}
      maxlength={200}
      aria-describedby={fault && `${name}-fault`}
      aria-invalid={fault ? 'true' : undefined}
    />
  </div>
)

type EntryProps = { visit: Visit; entries: readonly StoredEntry[] }

const EntryTable = ({ visit, entries }: EntryProps) => {
  const texts = auditPageTexts[visit.lang]
  return (
    <table class="fold">
      <thead>
        <tr>
          <th>{texts.when}</th>
          <th>{texts.what}</th>
          <th>{texts.where}</th>
        </tr>
      </thead>
      <tbody>
        {entries.map(entry => (
          <tr>
            <td class="num nowrap">{time(entry.at)}</td>
            <td class="alone what">
              {auditSentence(entry, visit.lang)}
              <Changes visit={visit} entry={entry} />
            </td>
            <td class="muted">{hidesAddress(visit.role, entry) ? texts.operator : entry.address}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const Changes = ({ visit, entry }: { visit: Visit; entry: StoredEntry }): Child => {
  const texts = auditPageTexts[visit.lang]
  const changes = auditChanges(entry)
  return (
    <details class="small">
      <summary class="muted">{texts.details}</summary>
      <p class="muted">
        <code>{entry.action}</code> · {auditActor(entry, visit.lang)} <code>{entry.actor_id}</code> ·{' '}
        <code>{entry.subject}</code> · <code>{entry.entry_id}</code>
      </p>
      {changes.length > 0 && (
        <table class="changes">
          <thead>
            <tr>
              <th>{texts.value}</th>
              <th>{texts.before}</th>
              <th>{texts.after}</th>
            </tr>
          </thead>
          <tbody>
            {changes.map(({ name, before, after }) => (
              <tr>
                <td>
                  <code>{name}</code>
                </td>
                <td>{before}</td>
                <td>{after}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </details>
  )
}
