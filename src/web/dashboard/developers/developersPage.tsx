import { type BasicPassword, type DeveloperKeys, seenEnd } from '../../../actions/merchants/developerKeys.ts'
import type { EndpointHealth } from '../../../actions/notifications/endpointHealth.ts'
import type { NotTested, TestedEndpoint } from '../../../actions/notifications/testNotification.ts'
import type { RefusedRequest } from '../../../core/interface/refusedRequest.ts'
import type { PropsWithChildren } from '../../../core/markup/jsx-runtime.ts'
import { FormToken, Icon } from '../../../core/markup/page.tsx'
import { resultText } from '../../../core/notification/delivery.ts'
import { fill } from '../../../core/text.ts'
import { MerchantPage } from '../frame/frame.tsx'
import { EndpointTest } from './endpointTest.tsx'
import { ButtonForm, DoneNotice } from '../ownAccount/ownAccountPages.tsx'
import type { MerchantVisit } from '../route.ts'
import { type DevelopersTexts, developersTexts } from './developersTexts.ts'

export type DevelopersNotice = keyof DevelopersTexts['notices']

export const developersTextsOf = ({ lang }: Pick<MerchantVisit, 'lang'>) => developersTexts[lang]

const shownTime = (at: Date) => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`

type DevelopersProps = {
  visit: MerchantVisit
  keys: DeveloperKeys
  password: BasicPassword | undefined // in style basic
  health: EndpointHealth
  requests: readonly RefusedRequest[]
  notice?: DevelopersNotice
  tested?: TestedEndpoint | NotTested
}

// Keys, the endpoint, refused requests and the tools of the sandbox.
export const DevelopersPage = (props: DevelopersProps) => {
  const { visit, keys, password, health, requests, notice, tested } = props
  const texts = developersTextsOf(visit)
  return (
    <MerchantPage visit={visit} title={texts.title} place="developers">
      <h1>{texts.title}</h1>
      <DoneNotice text={notice && texts.notices[notice]} />
      <KeysCard visit={visit} keys={keys} />
      <SecretsCard visit={visit} keys={keys} />
      {password && <PasswordCard visit={visit} password={password} />}
      <EndpointCard visit={visit} health={health} tested={tested} />
      <section class="card" aria-labelledby="requests">
        <header>
          <h2 id="requests">{texts.requests}</h2>
          <a href={`${visit.base}/developers/requests`}>{texts.allRequests}</a>
        </header>
        <p class="muted small">{texts.requestsText}</p>
        <RequestList visit={visit} requests={requests} />
      </section>
      {visit.mode === 'test' && <SandboxCard visit={visit} />}
    </MerchantPage>
  )
}

type KeysProps = Pick<DevelopersProps, 'visit' | 'keys'>
type Dated = { created_at: Date; expires_at: Date | null }

const hasEnded = ({ expires_at }: Dated, now: Date) => expires_at !== null && expires_at <= now

const KeyState = ({ visit, of }: { visit: MerchantVisit; of: Dated }) => {
  const texts = developersTextsOf(visit)
  if (of.expires_at === null) return <span class="pill ok">{texts.valid}</span>
  const time = shownTime(of.expires_at)
  return hasEnded(of, visit.now) ? (
    <span class="pill">{fill(texts.ended, { time })}</span>
  ) : (
    <span class="pill wait">{fill(texts.until, { time })}</span>
  )
}

// On a phone the table has no head, so the cell says what its time is.
const LastUse = ({ visit, at }: { visit: MerchantVisit; at: Date | null | undefined }) => {
  const texts = developersTextsOf(visit)
  return (
    <td class="num">
      {at ? (
        <>
          <span class="only-p">{texts.lastUsed} </span>
          {shownTime(at)}
        </>
      ) : (
        texts.neverUsed
      )}
    </td>
  )
}

const KeysCard = ({ visit, keys: { keys } }: KeysProps) => {
  const texts = developersTextsOf(visit)
  return (
    <section class="card stack" aria-labelledby="keys">
      <h2 id="keys">{texts.keys}</h2>
      <p class="muted small">{texts.keysText}</p>
      <DatedTable visit={visit} head={texts.key} isEmpty={keys.length === 0}>
        {keys.map(key => (
          <tr>
            <td>
              <code>{key.merchant_key}</code>
            </td>
            <td class="num">{shownTime(key.created_at)}</td>
            <LastUse visit={visit} at={key.last_used_at} />
            <td>
              <KeyState visit={visit} of={key} />
            </td>
            <td class="r">
              {visit.may('keys.manage') && !hasEnded(key, visit.now) && (
                <RevokeForm
                  visit={visit}
                  of="key"
                  id={key.merchant_key}
                  seen={seenEnd(key)}
                  label={fill(texts.revokeOf, { key: key.merchant_key })}
                />
              )}
            </td>
          </tr>
        ))}
      </DatedTable>
      <RotateForm visit={visit} action="rotate-key" title={texts.newKey} seen={keys[0]?.merchant_key ?? ''} />
    </section>
  )
}

type RevokeProps = { visit: MerchantVisit; of: 'key' | 'secret'; id: string; seen: string; label: string }

const RevokeForm = ({ visit, of, id, seen, label }: RevokeProps) => (
  <form method="post" action={`${visit.base}/developers/revoke-${of}`}>
    <FormToken token={visit.formToken} />
    <input type="hidden" name={of} value={id} />
    <input type="hidden" name="seen" value={seen} />
    <button type="submit" class="btn danger small" aria-label={label}>
      {developersTextsOf(visit).revoke}
    </button>
  </form>
)

const SecretsCard = ({ visit, keys: { secrets } }: KeysProps) => {
  const texts = developersTextsOf(visit)
  return (
    <section class="card stack" aria-labelledby="secrets">
      <h2 id="secrets">{texts.secrets}</h2>
      <p class="muted small">{texts.secretsText}</p>
      <DatedTable visit={visit} head={texts.secret} isEmpty={secrets.length === 0}>
        {secrets.map((secret, at) => (
          <tr>
            <td>
              <code>{secret.secret_id}</code>
            </td>
            <td class="num">{shownTime(secret.created_at)}</td>
            <LastUse visit={visit} at={secret.last_used_at} />
            <td>
              <KeyState visit={visit} of={secret} />
            </td>
            <td class="r">
              {at > 0 && visit.may('keys.manage') && !hasEnded(secret, visit.now) && (
                <RevokeForm
                  visit={visit}
                  of="secret"
                  id={secret.secret_id}
                  seen={seenEnd(secret)}
                  label={fill(texts.revokeSecretOf, { secret: secret.secret_id })}
                />
              )}
            </td>
          </tr>
        ))}
      </DatedTable>
      <RotateForm
        visit={visit}
        action="rotate-secret"
        title={texts.newSecret}
        seen={secrets[0]?.secret_id ?? ''}
      />
    </section>
  )
}

const PasswordCard = ({ visit, password }: { visit: MerchantVisit; password: BasicPassword }) => {
  const texts = developersTextsOf(visit)
  return (
    <section class="card stack" aria-labelledby="password">
      <h2 id="password">{texts.password}</h2>
      <p class="muted small">{texts.passwordText}</p>
      {password.isMerchantId && <p>{texts.passwordIsId}</p>}
      {visit.may('keys.manage') && (
        <ButtonForm
          visit={visit}
          action={`${visit.base}/developers/rotate-password`}
          label={texts.newPassword}
          fields={{ seen: password.seen }}
        />
      )}
    </section>
  )
}

type DatedTableProps = PropsWithChildren<{ visit: MerchantVisit; head: string; isEmpty: boolean }>

const DatedTable = ({ visit, head, isEmpty, children }: DatedTableProps) => {
  const texts = developersTextsOf(visit)
  if (isEmpty) return <p class="muted">{texts.noKeys}</p>
  return (
    <table class="fold">
      <thead>
        <tr>
          <th>{head}</th>
          <th>{texts.created}</th>
          <th>{texts.lastUsed}</th>
          <th>{texts.state}</th>
          <td></td>
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  )
}

type RotateProps = { visit: MerchantVisit; action: string; title: string; seen: string }

const RotateForm = ({ visit, action, title, seen }: RotateProps) => {
  const texts = developersTextsOf(visit)
  if (!visit.may('keys.manage')) return null
  return (
    <form method="post" action={`${visit.base}/developers/${action}`} class="row">
      <FormToken token={visit.formToken} />
      <input type="hidden" name="seen" value={seen} />
      <h3>{title}</h3>
      <label for={`${action}-overlap`} class="small">
        {texts.overlap}
      </label>
      <span class="input dense narrow">
        <select id={`${action}-overlap`} name="overlap">
          {(['24', '168', '0'] as const).map(hours => (
            <option value={hours}>{texts.overlaps[hours]}</option>
          ))}
        </select>
        <Icon name="down" />
      </span>
      <button type="submit" class="btn plain small">
        {title}
      </button>
    </form>
  )
}

const EndpointCard = ({ visit, health, tested }: Pick<DevelopersProps, 'visit' | 'health' | 'tested'>) => {
  const texts = developersTextsOf(visit)
  const { ipn_url, sent, acknowledged, parked, isFailing, failures } = health
  const verdict = sent === 0 ? texts.quiet : isFailing ? texts.failing : texts.healthy
  return (
    <section class="card stack" aria-labelledby="endpoint">
      <header>
        <h2 id="endpoint">{texts.endpoint}</h2>
        <a href={`${visit.base}/settings`}>{texts.setEndpoint}</a>
      </header>
      <p>{ipn_url ? <code>{ipn_url}</code> : texts.noEndpoint}</p>
      <p>
        <span class={sent === 0 ? 'pill' : isFailing ? 'pill bad' : 'pill ok'}>{verdict}</span>
      </p>
      {sent > 0 && <p class="small">{fill(texts.counts, { acknowledged, sent })}</p>}
      {parked > 0 && <p class="small">{fill(texts.parked, { count: parked })}</p>}
      <EndpointTest visit={visit} hasAddress={ipn_url !== null} tested={tested} />
      <h3>{texts.failures}</h3>
      {failures.length === 0 ? (
        <p class="muted">{texts.noFailures}</p>
      ) : (
        <table class="fold">
          <thead>
            <tr>
              <th>{texts.tried}</th>
              <th>{texts.payment}</th>
              <th>{texts.result}</th>
              <th class="r">{texts.tries}</th>
            </tr>
          </thead>
          <tbody>
            {failures.map(one => (
              <tr>
                <td class="num">{one.last_try_at && shownTime(one.last_try_at)}</td>
                <td>
                  <a href={`${visit.base}/payments/${one.tx_reference}`}>{one.tx_reference}</a>
                </td>
                <td>{one.last_result && resultText(one.last_result, visit.lang)}</td>
                <td class="r">{one.tries ?? 0}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}

type RequestsProps = { visit: MerchantVisit; requests: readonly RefusedRequest[] }

const RequestList = ({ visit, requests }: RequestsProps) => {
  const texts = developersTextsOf(visit)
  if (requests.length === 0) return <p class="muted">{texts.noRequests}</p>
  return (
    <>
      {requests.map(request => (
        <details>
          <summary>
            <span class="num">{shownTime(request.refused_at)}</span> <b>{request.code}</b>{' '}
            <span lang="en">{request.message}</span>
          </summary>
          <dl class="facts">
            <dt>{request.method}</dt>
            <dd>
              {request.path}, {request.http}, {request.request_id}
            </dd>
            {Object.entries(request.hint ?? {}).map(([name, text]) => (
              <>
                <dt>{name}</dt>
                <dd>{text}</dd>
              </>
            ))}
            {Object.entries(request.fields).map(([name, text]) => (
              <>
                <dt>
                  <code>{name}</code>
                </dt>
                <dd>{text}</dd>
              </>
            ))}
          </dl>
        </details>
      ))}
    </>
  )
}

export const RequestsPage = ({ visit, requests, next }: RequestsProps & { next: string | undefined }) => {
  const texts = developersTextsOf(visit)
  return (
    <MerchantPage visit={visit} title={texts.requests} place="developers">
      <p class="crumb">
        <a href={`${visit.base}/developers`}>{texts.title}</a>
      </p>
      <div class="title">
        <h1>{texts.requests}</h1>
      </div>
      <p class="muted small">{texts.requestsText}</p>
      <section class="card">
        <RequestList visit={visit} requests={requests} />
        {next && (
          <p class="pager">
            <a href={`${visit.base}/developers/requests?before=${next}`}>{texts.older}</a>
          </p>
        )}
      </section>
    </MerchantPage>
  )
}

const SandboxCard = ({ visit }: { visit: MerchantVisit }) => {
  const texts = developersTextsOf(visit)
  return (
    <section class="card stack" aria-labelledby="sandbox">
      <header>
        <h2 id="sandbox">{texts.sandbox}</h2>
      </header>
      <p class="muted small">{texts.sandboxText}</p>
      <p class="row">
        <a href="/sandbox/phone">{texts.phone}</a>
        <a href="/inbox">{texts.inbox}</a>
        <a href="/docs/interface#test-tools">{texts.triggers}</a>
        <a href="/docs/api">{texts.docs}</a>
      </p>
    </section>
  )
}

type OnceProps = { visit: MerchantVisit; values: readonly (readonly [string, string])[]; until?: string }

// A new secret, shown once: this page is the answer to the form, and no address has it.
export const ShownOncePage = ({ visit, values, until }: OnceProps) => {
  const texts = developersTextsOf(visit)
  return (
    <MerchantPage visit={visit} title={texts.onceTitle} place="developers">
      <section class="card roomy stack">
        <h1>{texts.onceTitle}</h1>
        <p>{texts.onceText}</p>
        <dl class="stack">
          {values.map(([name, value]) => (
            <div>
              <dt>
                <code>{name}</code>
              </dt>
              <dd>
                <code>{value}</code>
              </dd>
            </div>
          ))}
        </dl>
        <p class="small">
          {until ? fill(texts.onceOld, { time: shownTime(new Date(until)) }) : texts.onceReplaced}
        </p>
        <a class="btn" href={`${visit.base}/developers`}>
          {texts.done}
        </a>
      </section>
    </MerchantPage>
  )
}
