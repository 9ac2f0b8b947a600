import * as refusals from '../../core/interface/refusal.ts'
import { initiatedBody } from '../api/initiate.tsx'
import {
  exampleDetails,
  exampleError,
  exampleHash,
  exampleKeys,
  examplePayment,
  exampleRequestString,
} from './examples.ts'
import {
  bodyOf,
  errorResponses,
  htmlContent,
  internalError,
  jsonContent,
  jsonErrors,
  location,
  operation,
  type Paths,
  queryOf,
  response,
  type Responses,
} from './operation.ts'
import { forBrowsers, forServers, type Json, type ObjectSchema } from './requestSchema.ts'
import { rulesOfLinks, rulesOfPayments } from './rules.ts'
import { anyOf, refTo } from './schemas.ts'

const checkoutRequest = {
  ...exampleKeys,
  total: '25.00',
  ...exampleDetails,
  number: '0241234567',
  extra_table: '7',
  generate_checkout_url: true,
  secure_hash: exampleHash,
}

const directRequest = {
  ...exampleKeys,
  total: '25.00',
  pymt_instrument: '0241234567',
  extra_wallet_issuer_hint: 'mtn',
  secure_hash: exampleHash,
}

const wallet = { payment_method: 'mtn_mobile_money', input: {}, offered: true }

const wrongHash = refusals.wrongHash('does not match this request')
wrongHash.hint = {
  hashed_string: exampleRequestString,
  likely_mistake: 'the hash is right but base64; send it as hexadecimal',
}

// The refusals that any request with a body can get.
export const bodyRefusals = [
  new refusals.Refusal(413, 'GW-013', 'The body is larger than 64 KiB.'),
  new refusals.Refusal(415, 'GW-014', 'The body must not be compressed.', 'content-encoding'),
]

const requestRefusals = [
  refusals.missing('merchant_key'),
  refusals.missing('invoice_id'),
  refusals.missing('total'),
  refusals.malformed('total', 'at most 2 decimals (got 5.001)'),
  refusals.unknownMerchant(),
  wrongHash,
  refusals.deactivated(),
  refusals.conflict(),
  ...bodyRefusals,
  refusals.tooManyRequests(1),
  new refusals.Unavailable(undefined),
]

const jsonRefusal = jsonErrors(refTo('ErrorBody'), exampleError)
const requests = { checkout: checkoutRequest, direct: directRequest }
const request = refTo('PaymentRequest')
const form = refTo('PaymentForm')

const errorsAs200 = 'If errors_as_200 is on, errors have this status too: read success.'

const storedResponse = (description: string, baseUrl: string, more: Json = {}) =>
  response(description, {
    ...jsonContent(anyOf('PaymentStored', 'DirectStored', 'ErrorBody'), {
      checkout: initiatedBody({ stored: examplePayment }, baseUrl),
      direct: initiatedBody({ stored: examplePayment, direct: wallet }, baseUrl),
    }),
    ...more,
  })

export function paymentPaths(baseUrl: string, fields: ObjectSchema): Paths {
  return {
    '/v1/mobile_agents_v2': {
      post: operation('Payments', 'initiatePayment', 'Request a payment', {
        description:
          'Stores the payment and returns the address of its checkout page. The same request again returns the same ' +
          'payment, so it is always safe to repeat. A request with pymt_instrument and without ' +
          'generate_checkout_url is a direct one: it has no page.',
        requestBody: bodyOf(forServers(request), forServers(form), requests),
        rules: rulesOfPayments,
        responses: {
          200: storedResponse(`The payment is stored. ${errorsAs200}`, baseUrl),
          ...errorResponses(requestRefusals, jsonRefusal),
          ...internalError,
        },
      }),
    },
    '/gateway': formPaths('gateway', baseUrl, fields),
    '/gateway/checkout': formPaths('gatewayCheckout', baseUrl, fields),
    '/': rootPaths(baseUrl, fields),
  }
}

// A request for the root without merchant_key is a visitor, not a payment request.
function rootPaths(baseUrl: string, fields: ObjectSchema) {
  const { post } = formPaths('front', baseUrl, fields)
  const home = 'Without merchant_key a browser gets the home page.'
  const get = linkOperation('front', fields, `${home} ${errorsAs200}`, {
    404: response(
      'Without merchant_key, if the client is not a browser.',
      jsonContent(refTo('ErrorBody'), {}),
    ),
  })
  return { get, post }
}

// The older addresses, for a web form in the shop.
const formPaths = (name: string, baseUrl: string, fields: ObjectSchema) => ({
  get: linkOperation(name, fields, errorsAs200),
  post: operation('Web forms', `${name}ByForm`, 'Start a payment from a web form', {
    description:
      'The fields of a payment request from a form in the shop. The customer is redirected to the checkout page. ' +
      'A JSON request gets a JSON response.',
    requestBody: bodyOf(forBrowsers(request), forBrowsers(form), requests),
    rules: rulesOfPayments,
    responses: {
      200: storedResponse(
        `The payment is stored, and the request was JSON. ${errorsAs200}`,
        baseUrl,
        htmlContent,
      ),
      ...browserResponses,
    },
  }),
})

const linkOperation = (name: string, fields: ObjectSchema, ok: string, more: Responses = {}) =>
  operation('Web forms', `${name}ByLink`, 'Start a payment from a link', {
    description:
      'The fields of a payment request in the query. The customer is redirected to the checkout page.',
    parameters: queryOf(fields),
    rules: rulesOfLinks,
    responses: {
      200: response(ok, { ...jsonContent(refTo('ErrorBody'), {}), ...htmlContent }),
      ...browserResponses,
      ...more,
    },
  })

const browserResponses: Responses = {
  303: response('Redirects to the checkout page.', {}, location),
  ...errorResponses(requestRefusals, group => ({ ...jsonRefusal(group), ...htmlContent })),
  ...internalError,
}
