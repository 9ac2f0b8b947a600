import * as refusals from '../../core/interface/refusal.ts'
import { initiatedBody } from '../api/initiate.tsx'
import { exampleDetails, exampleHash, exampleKeys, examplePayment, exampleRequestString } from './examples.ts'
import {
  bodyOf,
  errorBodies,
  errorContent,
  errorResponses,
  htmlContent,
  jsonContent,
  location,
  operation,
  type Paths,
  queryOf,
  response,
  type Responses,
} from './operation.ts'
import { forBrowsers, forServers, type Json } from './requestSchema.ts'
import { rulesOfLinks, rulesOfPayments } from './rules.ts'
import { anyOf, refTo, schemas } from './schemas.ts'

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
  mistake: 'other_encoding',
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
  refusals.conflict([{ field: 'total', stored: '25.00', sent: '30.00' }]),
  ...bodyRefusals,
  refusals.tooManyRequests(1),
  new refusals.Unavailable(undefined),
]

const errorsAs200 = 'If errors_as_200 is on, errors have this status too: read success.'

// The root without merchant_key is the home page.
const rootOk = `Without merchant_key a browser gets the home page. ${errorsAs200}`
const rootNotFound = response('Without merchant_key, if the client is not a browser.', errorContent)

export function paymentPaths(baseUrl: string): Paths {
  const stored = jsonContent(anyOf('PaymentStored', 'DirectStored', 'ErrorBody'), {
    checkout: initiatedBody({ stored: examplePayment }, baseUrl),
    direct: initiatedBody({ stored: examplePayment, direct: wallet }, baseUrl),
  })
  return {
    '/v1/mobile_agents_v2': {
      post: operation('Payments', 'initiatePayment', 'Request a payment', {
        description:
          'Stores the payment and returns the address of its checkout page. The same request again returns the same ' +
          'payment, so it is always safe to repeat. A request with pymt_instrument and without ' +
          'generate_checkout_url is a direct one: it has no page.',
        requestBody: requestBody(forServers),
        rules: rulesOfPayments,
        responses: {
          200: response(`The payment is stored. ${errorsAs200}`, stored),
          ...errorResponses(requestRefusals),
        },
      }),
    },
    '/gateway': { get: byLink('gateway', errorsAs200), post: byForm('gateway', stored) },
    '/gateway/checkout': {
      get: byLink('gatewayCheckout', errorsAs200),
      post: byForm('gatewayCheckout', stored),
    },
    '/': { get: byLink('front', rootOk, { 404: rootNotFound }), post: byForm('front', stored) },
  }
}

const requestBody = (dependencies: (request: Json) => Json) =>
  bodyOf(dependencies(refTo('PaymentRequest')), dependencies(refTo('PaymentForm')), {
    checkout: checkoutRequest,
    direct: directRequest,
  })

// The older addresses take the fields of a payment request from a web form in the shop, or in the query of a link.
const byForm = (name: string, stored: Json) =>
  operation('Web forms', `${name}ByForm`, 'Start a payment from a web form', {
    description:
      'The fields of a payment request from a form in the shop. The customer is redirected to the checkout page. ' +
      'A JSON request gets a JSON response.',
    requestBody: requestBody(forBrowsers),
    rules: rulesOfPayments,
    responses: {
      200: response(`The payment is stored, and the request was JSON. ${errorsAs200}`, {
        ...stored,
        ...htmlContent,
      }),
      ...browserResponses,
    },
  })

const byLink = (name: string, ok: string, more: Responses = {}) =>
  operation('Web forms', `${name}ByLink`, 'Start a payment from a link', {
    description:
      'The fields of a payment request in the query. The customer is redirected to the checkout page.',
    parameters: queryOf(schemas.PaymentForm),
    rules: rulesOfLinks,
    responses: { 200: response(ok, { ...errorContent, ...htmlContent }), ...browserResponses, ...more },
  })

const browserResponses: Responses = {
  303: response('Redirects to the checkout page.', {}, location),
  ...errorResponses(requestRefusals, group => ({ ...errorBodies(group), ...htmlContent })),
}
