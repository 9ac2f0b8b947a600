import { initiate } from '../../actions/interface/initiate.ts'
import type { Refusal } from '../../core/interface/refusal.ts'
import { withoutLists } from '../../core/interface/request.ts'
import { type Lang, languages, preferredLang } from '../../core/languages/languages.ts'
import { CustomerPage } from '../pages/customerPage.tsx'
import { customerPageHeaders } from '../pages/sendPage.ts'
import { type ApiAnswer, type Exchange, htmlType } from '../http/apiRequest.ts'
import { queryFields, readFields } from '../http/body.ts'
import { isRefusal, refusalAnswer, refusedAs } from '../http/errors.ts'
import { type ApiOptions, checkoutUrl, initiatedAnswer } from './initiate.ts'

// The older doors, /gateway, /gateway/checkout and the front door: a shop's web form brings the customer's browser here.
// A form leads on to the checkout page; JSON gets the JSON answer.
export const formDoorRoute =
  ({ runtime, baseUrl }: ApiOptions) =>
  async (exchange: Exchange): Promise<ApiAnswer> => {
    const { incoming, method, query, address, requestId } = exchange
    try {
      const { fields, as } =
        method === 'POST'
          ? await readFields(incoming, { runtime, address })
          : { fields: queryFields(query), as: 'form' }
      const sent = as === 'json' ? fields : withoutLists(fields)
      const initiated = await initiate(runtime, sent, 'form', address)
      if (as === 'json') return initiatedAnswer(initiated, baseUrl())
      const { merchant_id, tx_token } = initiated.stored
      const headers = { location: checkoutUrl(baseUrl(), tx_token) }
      return { http: 303, body: '', headers, merchant_id }
    } catch (error) {
      if (!isRefusal(error)) throw error
      const isBrowser = incoming.headers.accept?.includes('text/html')
      return isBrowser
        ? refusalPage(error, requestId, preferredLang(incoming.headers['accept-language']))
        : refusalAnswer(error, requestId)
    }
  }

function refusalPage(refusal: Refusal, requestId: string, lang: Lang): ApiAnswer {
  const { trouble } = languages[lang]
  const page = (
    <CustomerPage title={trouble.cannot_start} lang={lang} requestId={requestId}>
      <section class="card bad">
        <h1>{trouble.cannot_start}</h1>
        <p>{trouble.cannot_start_words}</p>
        <p>
          <strong>{refusal.code}</strong> {refusal.message}
        </p>
      </section>
    </CustomerPage>
  )
  const answer = refusedAs(refusal, htmlType, page.toString())
  return { ...answer, headers: { ...customerPageHeaders, ...answer.headers } }
}
