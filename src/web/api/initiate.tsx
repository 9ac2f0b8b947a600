import { initiate, type Initiated } from '../../actions/interface/initiate.ts'
import type { Refusal } from '../../core/interface/refusal.ts'
import { withoutLists } from '../../core/interface/request.ts'
import { type Lang, languages, preferredLang } from '../../core/languages/languages.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import { acceptsHtml, type ApiAnswer, type Exchange, htmlType, jsonType } from '../http/apiRequest.ts'
import { queryFields, readFields } from '../http/body.ts'
import { isRefusal, refusalAnswer, refusedAs } from '../http/errors.ts'
import { NoticeCard } from '../../core/markup/page.tsx'
import { CustomerPage } from '../pages/customerPage.tsx'
import { customerPageHeaders } from '../pages/sendPage.ts'

export type ApiOptions = { runtime: Runtime; baseUrl(): string }

// Creates a payment, or returns the one that an equal request created.
export const initiateRoute =
  ({ runtime, baseUrl }: ApiOptions) =>
  async (exchange: Exchange): Promise<ApiAnswer> => {
    const { incoming, address } = exchange
    const { fields, as } = await readFields(incoming, { runtime, address })
    exchange.fields = fields
    const initiated = await initiate(runtime, as === 'json' ? fields : withoutLists(fields), 'api', address)
    return initiatedAnswer(initiated, baseUrl())
  }

const initiatedAnswer = (initiated: Initiated, baseUrl: string): ApiAnswer => ({
  http: 200,
  type: jsonType,
  body: JSON.stringify(initiatedBody(initiated, baseUrl)),
  merchant_id: initiated.stored.merchant_id,
})

export const checkoutUrl = (baseUrl: string, token: string) => `${baseUrl}/checkout/${token}`

export function initiatedBody({ stored, direct, warnings = [] }: Initiated, baseUrl: string) {
  const { invoice_id, tx_reference, tx_token } = stored
  const url = checkoutUrl(baseUrl, tx_token)
  return {
    success: true,
    status: 'new',
    status_code: 0,
    message: `The payment is stored. ${nextStep(direct)}`,
    invoice_id,
    tx_reference,
    ...(!direct && { tx_token, url, checkout_url: url }),
    ...(warnings.length > 0 && { warnings }),
  }
}

// The texts have no comma, because an old client splits them there.
function nextStep(direct: Initiated['direct']): string {
  if (!direct) return 'Send the customer to checkout_url.'
  return direct.offered
    ? 'The customer is asked to approve it on the phone.'
    : 'No provider for this network is set up here: the customer was not asked to pay.'
}

// The older addresses /gateway, /gateway/checkout and /. A web form in the shop sends the customer's browser there, which
// is redirected to the checkout page. A JSON request gets a JSON answer.
export const webFormRoute =
  ({ runtime, baseUrl }: ApiOptions) =>
  async (exchange: Exchange): Promise<ApiAnswer> => {
    const { incoming, method, query, address, requestId } = exchange
    try {
      const { fields, as } =
        method === 'POST'
          ? await readFields(incoming, { runtime, address })
          : { fields: queryFields(query), as: 'form' }
      exchange.fields = fields
      const isJson = as === 'json'
      const initiated = await initiate(runtime, isJson ? fields : withoutLists(fields), 'form', address)
      if (isJson) return initiatedAnswer(initiated, baseUrl())
      const { merchant_id, tx_token } = initiated.stored
      const headers = { location: checkoutUrl(baseUrl(), tx_token) }
      return { http: 303, body: '', headers, merchant_id }
    } catch (error) {
      if (!isRefusal(error)) throw error
      return acceptsHtml(incoming.headers.accept)
        ? refusalPage(error, requestId, preferredLang(incoming.headers['accept-language']))
        : refusalAnswer(error, exchange)
    }
  }

function refusalPage(refusal: Refusal, requestId: string, lang: Lang): ApiAnswer {
  const { trouble } = languages[lang]
  const page = (
    <CustomerPage title={trouble.cannot_start} lang={lang} requestId={requestId}>
      <NoticeCard title={trouble.cannot_start} tone="bad">
        <p>{trouble.cannot_start_text}</p>
        <p>
          <strong>{refusal.code}</strong> {refusal.message}
        </p>
      </NoticeCard>
    </CustomerPage>
  )
  const answer = refusedAs(refusal, htmlType, page.toString())
  return { ...answer, headers: { ...customerPageHeaders, ...answer.headers } }
}
