import { createRequire } from 'node:module'
import { eventPaths } from './eventPaths.ts'
import { otherPaths } from './otherPaths.ts'
import { paymentPaths } from './paymentPaths.ts'
import { headers } from './responses.ts'
import { jsonSchemas } from './schemas.ts'
import { statusPaths } from './statusPaths.ts'
import { description } from './words.ts'

const { version }: { version: string } = createRequire(import.meta.url)('../../../package.json')
const schemas = jsonSchemas()

// The interface as an OpenAPI document, made from the schemas that validate and the functions that answer.
export const openapiDocument = (baseUrl: string) => ({
  openapi: '3.1.0',
  info: {
    title: 'Tollgate',
    version,
    summary: 'Payment initiation, status checks and events.',
    description,
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  },
  servers: [{ url: baseUrl }],
  security: [{}], // who asks is told by merchant_key and proved by secure_hash, both of them fields; at the feed by a header
  tags: [
    { name: 'Payments', description: 'Ask for a payment.' },
    { name: 'Status', description: 'Ask how it stands.' },
    { name: 'Events', description: 'Read what you were notified of, or missed.' },
    { name: 'Web forms', description: 'Older doors for a form in the shop.' },
    { name: 'Checkout', description: 'What the customer sees.' },
    { name: 'Operation', description: 'For whoever runs this gateway.' },
  ],
  paths: { ...paymentPaths(baseUrl, schemas.PaymentForm), ...statusPaths, ...eventPaths, ...otherPaths },
  components: {
    schemas,
    headers,
    securitySchemes: { metricsToken: { type: 'http', scheme: 'bearer' } },
  },
})
