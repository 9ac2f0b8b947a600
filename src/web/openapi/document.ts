import { createRequire } from 'node:module'
import { eventPaths } from './eventPaths.ts'
import { exampleHash, exampleHexKeyHash, exampleRequestString, exampleSecret } from './examples.ts'
import { commonHeaders } from './operation.ts'
import { otherPaths } from './otherPaths.ts'
import { paymentPaths } from './paymentPaths.ts'
import { refundPaths } from './refundPaths.ts'
import { requestPaths } from './requestPaths.ts'
import { schemas } from './schemas.ts'
import { statusPaths } from './statusPaths.ts'
import { testPaths } from './testPaths.ts'
import { webhooks } from './webhooks.ts'

const { version }: { version: string } = createRequire(import.meta.url)('../../../package.json')

const description = `
Request a payment from your server, redirect the customer to the address in the response, and check the status of the
payment before you deliver anything.

## Keys and modes

You have a merchant key and a secret key for each mode. A merchant key that begins with \`tk_\` is for tests: its
payments move no real money. One that begins with \`lk_\` is live. The address is the same for both. The merchant
key goes into every request. The secret key never does.

## The signature

\`secure_hash\` proves that you sent the request.

1. Take three values as you send them: invoice_id, merchant_key, total.
2. Write them as \`invoice_id=...&merchant_key=...&total=...\`, in this order, without escaping anything.
3. Compute the HMAC-SHA-256 of that text with your secret key, in hexadecimal.

An example, with the secret key \`${exampleSecret}\`:

\`\`\`
text  ${exampleRequestString}
hash  ${exampleHash}
\`\`\`

If the secret key is hexadecimal, its decoded bytes may be the HMAC key too. The same example then gives
\`${exampleHexKeyHash}\`. Both are accepted, in any letter case.

If total is a JSON number, you may sign it as sent, in its shortest form or with two decimals: 10.50, 10.5.

A refund signs \`amount=...&invoice_id=...&merchant_key=...&refund_id=...\`, and the check of a refund
\`merchant_key=...&refund_id=...\`. Both are always signed.

The event feed has its own signature with a timestamp, in the header \`x-tollgate-signature\`. The tools for tests sign all
fields of the request and its time.

In test mode, the response to a wrong hash has the exact text that we hashed and the likely mistake.

## Retries

After a timeout, a lost connection, a 429 or a 503, send the same request again. It never creates a second payment:
a request with equal details returns the stored payment and its address. Different details with the same invoice_id
are refused with 409, and nothing changes. If the payment was cancelled or has expired, and it cannot have been paid,
the same request opens it again. Direct payments are not opened again.

## Methods

HEAD works wherever GET does, and returns the same headers without the body. Any method that is not described here is
refused with 405, \`method_not_allowed\`, and an Allow header.

## Rules that a schema cannot express

A request that fits its schema can still be refused. Each operation lists the possible reasons as \`x-further-rules\`:
the HTTP status, the code, the field and the rule, in a form that programs can read. There are no other reasons.

## Compatibility

Within v1, fields are added, but never removed, and their types never change. Ignore keys that you do not know.
`.trim()

// The API as an OpenAPI document. It is generated from the schemas that validate requests and the functions that answer
// them.
export const openapiDocument = (baseUrl: string) => ({
  openapi: '3.1.0',
  info: {
    title: 'Tollgate',
    version,
    summary: 'Payment initiation, status checks, refunds and events.',
    description,
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  },
  servers: [{ url: baseUrl }],
  security: [{}], // merchant_key and secure_hash are fields, and the feed's signature is a parameter
  tags: [
    { name: 'Payments', description: 'Request a payment.' },
    { name: 'Status', description: 'Check its status.' },
    { name: 'Refunds', description: 'Return money to the customer.' },
    { name: 'Events', description: 'Read all events, including those whose notification you missed.' },
    { name: 'Requests', description: 'See why your requests were refused.' },
    { name: 'Tests', description: 'Make test payments end in a chosen way, and advance their time.' },
    { name: 'Notifications', description: 'What this gateway sends to your server.' },
    { name: 'Web forms', description: 'Older addresses for a web form in the shop.' },
    { name: 'Checkout', description: 'The page that the customer sees.' },
    { name: 'Operation', description: 'For the operator of this gateway.' },
  ],
  paths: {
    ...paymentPaths(baseUrl),
    ...statusPaths,
    ...refundPaths,
    ...eventPaths,
    ...requestPaths,
    ...testPaths(baseUrl),
    ...otherPaths,
  },
  webhooks,
  components: {
    schemas,
    headers: commonHeaders,
    securitySchemes: { metricsToken: { type: 'http', scheme: 'bearer' } },
  },
})
