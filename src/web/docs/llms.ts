import { codeMeanings } from '../openapi/schemas.ts'
import { exampleHash, exampleRequestString, exampleSecret } from '../openapi/examples.ts'
import type { Library } from './library.ts'

// A guide for language models that write an integration: the rules that cost money if they are broken, then where to
// read the rest. The format is that of llmstxt.org.
export const llmsText = (library: Pick<Library, 'groups'>, baseUrl: string) =>
  `# Tollgate

> A payment gateway with a hosted checkout page (mobile money, cards, QR; Ghana first). A shop's server requests a
> payment with a signed request, redirects the customer to the checkout page, and checks the status before it delivers.

Base address: ${baseUrl}. Test keys begin with tk_, live keys with lk_; the address is the same.

## Rules

1. Call the API from a server only. The secret key never goes into a browser, an app or a repository.
2. Prefer an SDK: Node (\`@tollgate/merchant\`, not in a public registry: see ${baseUrl}/docs/sdk/node), PHP
   (${baseUrl}/docs/sdk/php), Python (${baseUrl}/docs/sdk/python). They sign, retry, verify and deduplicate.
3. Choose invoice_id yourself, at most 25 characters, and store it with the order before the first request.
4. total is text in major units with a dot: "25.00". Never a float. The currency is GHS unless you send another.
5. Sign with HMAC-SHA-256, key: the secret key as text, output: hexadecimal, over exactly
   \`invoice_id=<invoice_id>&merchant_key=<merchant_key>&total=<total>\`, values as sent, nothing escaped.
   Check: secret \`${exampleSecret}\`, text \`${exampleRequestString}\`, hash
   \`${exampleHash}\`.
6. After a timeout, a lost connection, 429 or 5xx send the same request again, with the same invoice_id and fields. It
   never creates a second payment. Do not make a new invoice_id for a retry.
7. A visit of success_url is not a proof of payment, and neither is a notification. Deliver only after your server has
   read \`GET /v1/gateway/json_status_chk\` and status is paid and amount and currency equal those of the order.
8. Notifications: read the raw body, verify webhook-signature (Standard Webhooks: base64 HMAC-SHA-256 of
   \`<webhook-id>.<webhook-timestamp>.<raw body>\`, key: the base64 after whsec_), refuse old timestamps, deduplicate by
   webhook-id, then check the status. Answer 200 within 10 seconds. They can arrive twice, late and in another order.
9. failed and cancelled can still become paid, if money arrives late. paid is final. awaiting_payment is not a failure.
10. Compare error.code, not message. error.doc_url explains the code. Log request_id.

## Request a payment

POST ${baseUrl}/v1/mobile_agents_v2 with Content-Type: application/json

    {"merchant_key": "tk_...", "invoice_id": "AMA-1042", "total": "25.00", "description": "Two straw hats",
     "ipn_url": "https://shop.example/ipn", "success_url": "https://shop.example/thanks",
     "generate_checkout_url": true, "secure_hash": "<hexadecimal>"}

The answer has success: true and checkout_url. Redirect the customer there.

## Check the status

GET ${baseUrl}/v1/gateway/json_status_chk?merchant_key=...&invoice_id=...&secure_hash=...

secure_hash is optional here: HMAC-SHA-256 of \`invoice_id=<invoice_id>&merchant_key=<merchant_key>\`. Without it the
personal data in the answer is masked. Read status, amount (a number) and currency at the top level of the answer.

## Test it

With a test key, choose MTN MoMo on the checkout page. The last three digits of the number decide: 0240000000 is paid,
0240000002 has no money, 0240000003 is declined, 0240000004 is not answered, 0240000007 fails and is paid later.

## Errors

${Object.entries(codeMeanings)
  .map(([code, meaning]) => `- ${code}: ${meaning}`)
  .join('\n')}

## Documents

- [OpenAPI document](${baseUrl}/openapi.json): every operation, schema and rule
${library.groups
  .flatMap(({ pages }) => pages)
  .map(({ title, path }) => `- [${title}](${baseUrl}${path}.md)`)
  .join('\n')}
`
