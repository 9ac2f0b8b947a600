import { initiate } from '../../actions/initiate.ts'
import { pairFields, readFields } from '../body.ts'
import { addressOf, type Ctx } from '../context.ts'
import { answerRefusal, httpOf, isRefusal } from '../errors.ts'
import { Page } from '../checkout/page.tsx'
import { type ApiOptions, checkoutUrl, initiatedBody } from './initiate.ts'

// The older doors, /gateway and /gateway/checkout: a shop's web form brings the customer's browser here.
// A form leads on to the checkout page; JSON gets the JSON answer.
export const formDoorRoute = (options: ApiOptions) => async (c: Ctx) => {
  try {
    const { fields, as } =
      c.req.method === 'GET'
        ? { fields: pairFields(new URL(c.req.url).searchParams), as: 'form' }
        : await readFields(c)
    const initiated = await initiate(options.gate, fields, 'form', addressOf(c, options.trustedProxies))
    c.set('merchantId', initiated.stored.merchant_id)
    if (as === 'json') return c.json(initiatedBody(initiated, options.baseUrl()))
    return c.redirect(checkoutUrl(options.baseUrl(), initiated.stored.tx_token), 303)
  } catch (error) {
    if (!isRefusal(error)) throw error
    if (!c.req.header('accept')?.includes('text/html')) return answerRefusal(c, error)
    return c.html(
      <Page title="This payment cannot start" requestId={c.get('requestId')}>
        <section class="card bad">
          <h1>This payment cannot start</h1>
          <p>The shop sent something that we cannot take. Nothing was charged. Go back and tell the shop:</p>
          <p>
            <strong>{error.code}</strong> {error.message}
          </p>
        </section>
      </Page>,
      httpOf(c, error),
    )
  }
}
