import { operation, type Paths } from './operation.ts'
import { answerOf, html, json, location, retryAfter, text } from './responses.ts'
import { refTo } from './schemas.ts'

// The customer's page, and what an operator's machinery asks.
export const otherPaths: Paths = {
  '/checkout/{token}': {
    get: operation('Checkout', 'openCheckout', 'The page for the customer', {
      description:
        'Where the customer pays, and sees how it stands. Who asks without an Accept header, as a server that prints our ' +
        'page as its own, gets a tiny page that leads the browser to this address.',
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
        200: answerOf('The page.', html),
        303: answerOf('Back from a provider: on to the page itself.', {}, location),
        400: answerOf('The address is written in another way than we gave it.', {
          ...html,
          ...json(refTo('ErrorBody'), {}),
        }),
        404: answerOf('No payment has this token.', html),
        429: answerOf('Too many pages were opened from one address.', html, retryAfter),
        410: answerOf('The time to pay is over.', html),
        500: answerOf('Something broke on our side.', html),
        503: answerOf('We cannot reach our records now.', html, retryAfter),
      },
    }),
  },
  '/openapi.json': {
    get: operation('Operation', 'readDescription', 'This document', {
      responses: {
        200: answerOf('The interface as OpenAPI.', { 'application/json': { schema: { type: 'object' } } }),
        503: answerOf('Payments go first at this moment.', json(refTo('ErrorBody'), {}), retryAfter),
      },
    }),
  },
  '/docs': {
    get: operation('Operation', 'openReference', 'The same to read and to try out', {
      responses: {
        200: answerOf('The page.', html),
        503: answerOf('Payments go first at this moment.', json(refTo('ErrorBody'), {}), retryAfter),
      },
    }),
  },
  '/healthz': {
    get: operation('Operation', 'isAlive', 'Does this node run?', {
      responses: { 200: answerOf('It runs.', text('ok')) },
    }),
  },
  '/readyz': {
    get: operation('Operation', 'isReady', 'Can this node serve?', {
      responses: {
        200: answerOf('It can.', text('ready')),
        503: answerOf('It cannot; the text says why.', text('not ready: the database cannot be reached')),
      },
    }),
  },
  '/metrics': {
    get: operation('Operation', 'readMetrics', 'Numbers for Prometheus', {
      description:
        'Needs TOLLGATE_METRICS_TOKEN or the support token as a bearer token. tollgate support token prints the latter.',
      security: [{ metricsToken: [] }],
      responses: {
        200: answerOf(
          'The numbers.',
          text('tollgate_http_requests_total{route="/healthz",method="GET",status="200"} 1'),
        ),
        403: answerOf(
          'Without a token, or not with this one.',
          text('Send TOLLGATE_METRICS_TOKEN or the support token as a bearer token.'),
        ),
        429: answerOf(
          'Too many wrong tokens came from this address.',
          text('Too many wrong tokens came from this address. Wait for Retry-After seconds.'),
          retryAfter,
        ),
      },
    }),
  },
}
