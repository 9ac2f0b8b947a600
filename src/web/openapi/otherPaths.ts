import {
  htmlContent,
  jsonContent,
  location,
  operation,
  type Paths,
  textContent,
  response,
  retryAfter,
} from './operation.ts'
import { refTo } from './schemas.ts'

const errorBody = jsonContent(refTo('ErrorBody'), {})
const overloaded = response('The gateway is overloaded, and payments go first.', errorBody, retryAfter)

// The customer's page, and the addresses for operators and their tools.
export const otherPaths: Paths = {
  '/checkout/{token}': {
    get: operation('Checkout', 'openCheckout', 'The page for the customer', {
      description:
        'Where the customer pays, and sees the result. A client without an Accept header, such as a server that prints ' +
        'our page as its own, gets a small page that redirects the browser to this address.',
      parameters: [
        {
          name: 'token',
          in: 'path',
          required: true,
          description: 'tx_token.',
          schema: { type: 'string', pattern: '^[0-9a-z]{42}$' },
        },
      ],
      responses: {
        200: response('The page.', htmlContent),
        303: response('The customer returns from a provider. Redirects to the page.', {}, location),
        400: response('The address is not spelled as we gave it.', { ...htmlContent, ...errorBody }),
        404: response('No payment has this token.', htmlContent),
        410: response('The payment has expired.', htmlContent),
        429: response('Too many pages were opened from one IP address.', htmlContent, retryAfter),
        500: response('An internal error.', htmlContent),
        503: response('The database is unavailable.', htmlContent, retryAfter),
      },
    }),
  },
  '/openapi.json': {
    get: operation('Operation', 'readDescription', 'This document', {
      responses: {
        200: response('The API as OpenAPI.', { 'application/json': { schema: { type: 'object' } } }),
        503: overloaded,
      },
    }),
  },
  '/docs': {
    get: operation('Operation', 'openReference', 'The interactive reference', {
      responses: { 200: response('The page.', htmlContent), 503: overloaded },
    }),
  },
  '/healthz': {
    get: operation('Operation', 'isAlive', 'Liveness check of this node', {
      responses: { 200: response('The node runs.', textContent('ok')) },
    }),
  },
  '/readyz': {
    get: operation('Operation', 'isReady', 'Readiness check of this node', {
      responses: {
        200: response('The node can serve requests.', textContent('ready')),
        503: response(
          'The node cannot serve requests. The text says why.',
          textContent('not ready: the database cannot be reached'),
        ),
      },
    }),
  },
  '/metrics': {
    get: operation('Operation', 'readMetrics', 'Metrics for Prometheus', {
      description:
        'Needs TOLLGATE_METRICS_TOKEN or the support token as a bearer token. tollgate support token prints the latter.',
      security: [{ metricsToken: [] }],
      responses: {
        200: response(
          'The metrics.',
          textContent('tollgate_http_requests_total{route="/healthz",method="GET",status="200"} 1'),
        ),
        403: response(
          'The token is missing or wrong.',
          textContent('Send TOLLGATE_METRICS_TOKEN or the support token as a bearer token.'),
        ),
        429: response(
          'Too many wrong tokens came from this IP address.',
          textContent('Too many wrong tokens came from this address. Wait for Retry-After seconds.'),
          retryAfter,
        ),
      },
    }),
  },
}
