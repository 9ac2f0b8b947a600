import {
  errorContent,
  htmlContent,
  location,
  operation,
  type Paths,
  textContent,
  response,
  type Responses,
  retryAfter,
} from './operation.ts'

const overloaded = response(
  'The gateway is overloaded, and payments have priority.',
  errorContent,
  retryAfter,
)

const forOperators = (operationId: string, summary: string, responses: Responses) => ({
  get: operation('Operation', operationId, summary, { responses }),
})

// The customer's page, and the addresses for operators and their tools.
export const otherPaths: Paths = {
  '/checkout/{token}': {
    get: operation('Checkout', 'openCheckout', 'The page for the customer', {
      description:
        'The customer pays here and sees the result. A client without an Accept header, such as a server that shows ' +
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
        400: response('The address is not in its plain form.', { ...htmlContent, ...errorContent }),
        404: response('No payment has this token.', htmlContent),
        410: response('The payment has expired.', htmlContent),
        429: response('Too many pages were opened from one IP address.', htmlContent, retryAfter),
        500: response('An internal error.', htmlContent),
        503: response('The database is unavailable.', htmlContent, retryAfter),
      },
    }),
  },
  '/openapi.json': forOperators('readDescription', 'This document', {
    200: response('The API as OpenAPI.', { 'application/json': { schema: { type: 'object' } } }),
    503: overloaded,
  }),
  '/docs': forOperators('openReference', 'The documentation, with the reference of this interface', {
    200: response('The page.', htmlContent),
    503: overloaded,
  }),
  '/llms.txt': forOperators('readGuide', 'A short guide for language models', {
    200: response('The guide.', textContent('# Tollgate')),
    503: overloaded,
  }),
  '/healthz': forOperators('isAlive', 'Liveness check of this node', {
    200: response('The node runs.', textContent('ok')),
  }),
  '/readyz': forOperators('isReady', 'Readiness check of this node', {
    200: response('The node can serve requests, or if its role is worker, work.', textContent('ready')),
    503: response(
      'The node cannot serve requests. The text has the reason.',
      textContent('not ready: the database cannot be reached'),
    ),
  }),
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
          'Too many wrong tokens were sent from this IP address.',
          textContent('Too many wrong tokens were sent from this address. Wait for Retry-After seconds.'),
          retryAfter,
        ),
      },
    }),
  },
}
