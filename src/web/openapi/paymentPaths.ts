import * as examples from './examples.ts'
import { bodyOf, operation, type Paths, queryOf } from './operation.ts'
import { forBrowsers, forServers, type Json, type ObjectSchema } from './requestSchema.ts'
import { answerOf, broken, failures, html, json, jsonOf, location, type Responses } from './responses.ts'
import { rulesOfLinks, rulesOfPayments } from './rules.ts'
import { anyOf, refTo } from './schemas.ts'

const refused = jsonOf(refTo('ErrorBody'), examples.errorBody)
const forms = { checkout: examples.request, direct: examples.directRequest }
const request = refTo('PaymentRequest')
const form = refTo('PaymentForm')

const asWell = 'Where errors_as_200 is on, errors come with this status too: read success.'

const storedAnswer = (description: string, baseUrl: string, more: Json = {}) =>
  answerOf(description, {
    ...json(anyOf('PaymentStored', 'DirectStored', 'ErrorBody'), {
      checkout: examples.storedBody(baseUrl),
      direct: examples.storedBody(baseUrl, true),
    }),
    ...more,
  })

export function paymentPaths(baseUrl: string, fields: ObjectSchema): Paths {
  return {
    '/v1/mobile_agents_v2': {
      post: operation('Payments', 'initiatePayment', 'Ask for a payment', {
        description:
          'Stores the payment and gives the address of its checkout page. The same request again finds the same ' +
          'payment, so repeat it whenever you are in doubt. A request with pymt_instrument and without ' +
          'generate_checkout_url is a direct one: it has no page.',
        requestBody: bodyOf(forServers(request), forServers(form), forms),
        rules: rulesOfPayments,
        responses: {
          200: storedAnswer(`The payment is stored. ${asWell}`, baseUrl),
          ...failures(examples.requestRefusals, refused),
          ...broken,
        },
      }),
    },
    '/gateway': door('gateway', baseUrl, fields),
    '/gateway/checkout': door('gatewayCheckout', baseUrl, fields),
    '/': frontDoor(baseUrl, fields),
  }
}

// There a person may come as well, who brings no payment request.
function frontDoor(baseUrl: string, fields: ObjectSchema) {
  const { post } = door('front', baseUrl, fields)
  const asWellAsPeople = 'Without merchant_key it is no door: a browser sees a page.'
  const get = byLink('front', fields, `${asWellAsPeople} ${asWell}`, {
    404: answerOf('Without merchant_key, and not asked by a browser.', json(refTo('ErrorBody'), {})),
  })
  return { get, post }
}

// The older doors, for a shop's own web form.
const door = (name: string, baseUrl: string, fields: ObjectSchema) => ({
  get: byLink(name, fields, asWell),
  post: operation('Web forms', `${name}ByForm`, 'Start a payment from a web form', {
    description:
      'The fields of a payment request from a form in the shop. The customer is sent on to the checkout page. ' +
      'What comes as JSON is answered as JSON.',
    requestBody: bodyOf(forBrowsers(request), forBrowsers(form), forms),
    rules: rulesOfPayments,
    responses: {
      200: storedAnswer(`The payment is stored. JSON came in, so JSON goes out. ${asWell}`, baseUrl, html),
      ...doorResponses,
    },
  }),
})

const byLink = (name: string, fields: ObjectSchema, ok: string, more: Responses = {}) =>
  operation('Web forms', `${name}ByLink`, 'Start a payment from a link', {
    description:
      'The fields of a payment request in the query. The customer is sent on to the checkout page.',
    parameters: queryOf(fields),
    rules: rulesOfLinks,
    responses: {
      200: answerOf(ok, { ...json(refTo('ErrorBody'), {}), ...html }),
      ...doorResponses,
      ...more,
    },
  })

const doorResponses: Responses = {
  303: answerOf('On to the checkout page.', {}, location),
  ...failures(examples.requestRefusals, group => ({ ...refused(group), ...html })),
  ...broken,
}
