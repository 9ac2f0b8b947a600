import type { FoundRequest } from '../../actions/requests/findRequests.ts'
import { requestsKeptDays, storedPerCode } from '../../core/interface/refusedRequest.ts'
import { NoticeCard } from '../../core/markup/page.tsx'
import { Time } from '../pages/operatorPage.tsx'
import { SupportPage } from './pages.tsx'

// A refused request of a merchant, found by its id.
export const RefusedRequestPage = ({ query, request }: { query: string; request: FoundRequest }) => (
  <SupportPage
    title={`${request.request_id}, ${request.code}`}
    query={query}
    isTest={request.mode === 'test'}
  >
    <section class="card">
      <h1>This request was refused</h1>
      <p>
        <strong>{request.code}</strong> {request.message}
      </p>
      {request.hint && <Pairs pairs={Object.entries(request.hint)} />}
    </section>
    <section class="card">
      <h2>Facts</h2>
      <dl class="facts">
        <dt>request</dt>
        <dd>{request.request_id}</dd>
        <dt>merchant</dt>
        <dd>
          {request.merchant_name} ({request.merchant_id})
        </dd>
        <dt>time</dt>
        <dd>
          <Time at={request.refused_at} />
        </dd>
        <dt>address</dt>
        <dd>
          {request.method} {request.path}
        </dd>
        <dt>HTTP status</dt>
        <dd>{request.http}</dd>
        {request.field && (
          <>
            <dt>field</dt>
            <dd>{request.field}</dd>
          </>
        )}
      </dl>
    </section>
    <section class="card">
      <h2>What the shop sent</h2>
      <Pairs pairs={Object.entries(request.fields)} />
      <p class="muted">Personal data is masked, secrets are removed, and long values are cut.</p>
    </section>
  </SupportPage>
)

const Pairs = ({ pairs }: { pairs: readonly (readonly [string, string])[] }) => (
  <dl class="facts">
    {pairs.map(([name, value]) => (
      <>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </>
    ))}
  </dl>
)

export const NoSuchRequestPage = ({ query }: { query: string }) => (
  <SupportPage title="No such request" query={query}>
    <NoticeCard title="We find no refused request like that">
      <p>
        Only refused requests are kept, for {requestsKeptDays} days: of each shop and error code the first{' '}
        {storedPerCode} of a day. A request without a known merchant_key, and one that failed because the
        gateway was unavailable, is only in the gateway's log.
      </p>
    </NoticeCard>
  </SupportPage>
)
