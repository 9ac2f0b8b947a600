import { hashByBytes, hashedString, secret, secure_hash } from './examples.ts'

export const description = `
Ask for a payment from your server, send the customer to the address that you get, and ask how the payment
stands before you hand anything over.

## Keys and modes

You have a merchant key and a secret key for each mode. A merchant key that begins with \`tk_\` is for tests: its
payments never touch real money. One that begins with \`lk_\` is live. The address is the same for both. The merchant
key goes into every request. The secret key never does.

## The signature

\`secure_hash\` proves that a request is yours.

1. Take three values as you send them: invoice_id, merchant_key, total.
2. Write them as \`invoice_id=...&merchant_key=...&total=...\`, in this order, without escaping anything.
3. Take the HMAC-SHA-256 of that text with your secret key, in hexadecimal.

A worked example, with the secret key \`${secret}\`:

\`\`\`
text  ${hashedString}
hash  ${secure_hash}
\`\`\`

A secret key that is hexadecimal may also be used as the bytes that it spells. The same example then gives
\`${hashByBytes}\`. Both are accepted, in any letter case.

When total is a JSON number, you may sign it as sent, in its shortest spelling or with two decimals: 10.50, 10.5.

The event feed is signed with the time, in the header \`x-tollgate-signature\`.

In test mode a wrong hash is answered with the exact text that we hashed and the likely mistake.

## Repeating a request

After a timeout, a lost connection, a 429 or a 503, send the same request again. It never makes a second payment:
equal details find the payment that is stored and answer the same address. Other details under the same invoice_id
are refused with 409, and nothing changes. A payment that was cancelled, or whose time is over, is open again for the
customer where nobody can have paid it; a direct one is not.

## Methods

HEAD is taken wherever GET is, and gets the same answer without its body. Any other method than those described here is
refused with 405, \`method_not_allowed\`, and an Allow header.

## What a schema cannot say

A request that fits its schema can be refused all the same. Why, stands with each operation as \`x-further-rules\`: the
HTTP status, the code, the field and the rule, for programs too. There is no other reason.

## Growing

Within v1 fields are added, never removed and never given another type. Read the keys that you know and pass over
the rest.
`.trim()
