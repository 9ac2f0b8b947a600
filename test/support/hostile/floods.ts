import { randomBytes } from 'node:crypto'
import { sign } from '../merchant/merchant.ts'
import { signedFields } from '../merchant/testTools.ts'
import { pick, randomBelow } from '../random.ts'
import type { Attack, HostileRequest, Target } from './crowd.ts'

type Flood = { what: string; requests(target: Target): readonly (() => HostileRequest)[] }

const letters = [...'0123456789abcdefghjkmnpqrstvwxyz']
const randomText = (length: number) => Array.from({ length }, () => pick(letters)).join('')

const page = { accept: 'text/html' }
const form = { 'content-type': 'application/x-www-form-urlencoded' }
const words = (fields: Record<string, string>) => new URLSearchParams(fields).toString()

const get = (path: string, headers: Record<string, string> = {}): HostileRequest => ({ path, headers })
const postForm = (path: string, fields: Record<string, string>): HostileRequest => ({
  method: 'POST',
  path,
  headers: { ...form, ...page },
  body: words(fields),
})
const postJson = (path: string, fields: Record<string, unknown>): HostileRequest => ({
  method: 'POST',
  path,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(fields),
})

const asked = (merchant_key: string) => ({
  merchant_key,
  invoice_id: `H-${randomText(12)}`,
  total: '5.00',
  generate_checkout_url: 'true',
})
const wrongHash = { secure_hash: 'a'.repeat(64) }

// A well-formed token of an existing merchant, without a payment.
const unknownToken = ({ own }: Target) => own.token.slice(0, 10) + randomText(32)

const wrongTokens: readonly Record<string, string>[] = [
  { authorization: 'Bearer not-the-token-of-the-operator' },
  { authorization: `Basic ${Buffer.from('operator:not-the-token').toString('base64')}` },
  {},
]
const operator = (method: 'GET' | 'POST', path: string) =>
  wrongTokens.map(headers => (): HostileRequest => ({ method, path, headers: { ...page, ...headers } }))

const checkoutPages = ['', '/state', '/qr.svg', '/receipt', '/cancel', '/code.png'] as const
const checkoutForms = ['/pay', '/step', '/words', '/give-up', '/cancel'] as const
const typed = { number: '1', payment_method: 'mtn_mobile_money', phone: '0241234002' }

const checkout = (token: () => string) =>
  [...checkoutPages, '/pay', '/step', '/words', '/give-up'].map(
    under => () => get(`/checkout/${token()}${under}`, page),
  )
const checkoutPosts = (token: () => string) =>
  checkoutForms.map(under => () => postForm(`/checkout/${token()}${under}`, typed))

const joined = (fields: object) =>
  Object.entries(fields)
    .map(pair => pair.join('='))
    .join('&')

// The endpoints whose requests sign all their fields.
const newerRequests = (keys: { merchant_key: string; secret_key: string }) => [
  () => get(`/v1/requests?${joined(signedFields(keys))}`),
  () => postJson('/v1/test/triggers', signedFields(keys, { outcome: 'paid' })),
  () => postJson('/v1/test/clock', signedFields(keys, { advance: '1h' })),
]

// Refunds of a payment that is not paid, which read the most before they are refused.
function refundRequests({ merchant_key, secret_key }: { merchant_key: string; secret_key: string }) {
  const refund = () => ({
    amount: '1.00',
    invoice_id: 'OWN-1',
    merchant_key,
    refund_id: `H-${randomText(12)}`,
  })
  const check = () => ({ merchant_key, refund_id: `H-${randomText(12)}` })
  const signed = (fields: Record<string, string>) => ({
    ...fields,
    secure_hash: sign(secret_key, joined(fields)),
  })
  return [
    () => postJson('/v1/refunds', signed(refund())),
    () => {
      const { refund_id, ...fields } = signed(check()) as Record<string, string>
      return get(`/v1/refunds/${refund_id}?${joined(fields)}`)
    },
  ]
}

const shopFiles = ['shop.css', 'live.js', 'pictures/hat.svg', 'pictures/scarf.svg', 'pictures/butter.svg']

// As a browser sends a form of the site itself.
const sameSite = (request: HostileRequest): HostileRequest => ({
  ...request,
  headers: { ...request.headers, 'sec-fetch-site': 'same-origin' },
})

// Every public route has a flood here: test/proof/hostile.test.ts compares this table with the routes of the program.
const table: readonly Flood[] = [
  {
    what: 'payment requests with a wrong hash',
    requests: ({ merchant_key }) => [
      () => postJson('/v1/mobile_agents_v2', { ...asked(merchant_key), ...wrongHash }),
    ],
  },
  {
    what: 'payment requests of an unknown merchant',
    requests: () => [
      () => postJson('/v1/mobile_agents_v2', { ...asked(`lk_${randomText(24)}`), ...wrongHash }),
    ],
  },
  {
    what: 'payment requests without a hash',
    requests: ({ merchant_key }) => [() => postJson('/v1/mobile_agents_v2', asked(merchant_key))],
  },
  {
    what: 'payment requests that are no JSON',
    requests: () => [
      () => ({ method: 'POST', path: '/v1/mobile_agents_v2', body: '{"merchant_key":' }),
      () => ({ method: 'POST', path: '/v1/mobile_agents_v2', body: Buffer.from([0x7b, 0xff, 0x00]) }),
    ],
  },
  {
    what: "an attacker's own signed payment request, again and again",
    requests: ({ own }) => {
      const request = { ...asked(own.merchant_key), invoice_id: 'OWN-1' }
      const text = `invoice_id=OWN-1&merchant_key=${own.merchant_key}&total=${request.total}`
      const signed = { ...request, secure_hash: sign(own.secret_key, text) }
      return [() => postJson('/v1/mobile_agents_v2', signed)]
    },
  },
  {
    what: 'forms at the older doors',
    requests: ({ merchant_key }) =>
      ['/', '/gateway', '/gateway/checkout'].flatMap(path => [
        () => get(`${path}?${words({ ...asked(merchant_key), ...wrongHash })}`, page),
        () => postForm(path, { ...asked(merchant_key), ...wrongHash }),
      ]),
  },
  {
    what: 'status checks of unknown invoices',
    requests: ({ merchant_key }) =>
      [
        '/v1/gateway/json_status_chk',
        '/gateway/json_status_chk',
        '/v1/gateway/status_chk',
        '/gateway/status_chk',
      ].flatMap(path => [
        () => get(`${path}?${words({ merchant_key, invoice_id: `H-${randomText(12)}` })}`),
        () => postForm(path, { merchant_key, invoice_id: `H-${randomText(12)}` }),
      ]),
  },
  {
    what: 'status checks of a known invoice, unsigned',
    requests: ({ merchant_key, invoice_id }) => [
      () => get(`/v1/gateway/json_status_chk?${words({ merchant_key, invoice_id })}`),
      () => get(`/v1/gateway/status_chk?${words({ merchant_key, invoice_id })}`),
    ],
  },
  {
    what: 'the event feed, unsigned and with wrong signatures',
    requests: ({ merchant_key }) => [
      () => get(`/v1/events?${words({ merchant_key })}`),
      () =>
        get(`/v1/events?${words({ merchant_key })}`, {
          'x-tollgate-signature': `t=${Math.floor(Date.now() / 1000)},v1=${'a'.repeat(64)}`,
        }),
    ],
  },
  {
    what: 'refunds with wrong signatures',
    requests: ({ merchant_key }) => refundRequests({ merchant_key, secret_key: 'guessed' }),
  },
  { what: "refunds of an attacker's own merchant", requests: ({ own }) => refundRequests(own) },
  {
    what: 'the request log, triggers and the clock, with wrong signatures',
    requests: ({ merchant_key }) => newerRequests({ merchant_key, secret_key: 'guessed' }),
  },
  {
    what: "the request log, triggers and the clock of an attacker's own merchant",
    requests: ({ own }) => newerRequests(own),
  },
  {
    what: 'checkout pages of unknown and of impossible tokens',
    requests: target => [...checkout(() => unknownToken(target)), ...checkout(() => randomText(12))],
  },
  { what: 'forms of unknown tokens', requests: target => checkoutPosts(() => unknownToken(target)) },
  { what: "checkout pages of an attacker's own payment", requests: ({ own }) => checkout(() => own.token) },
  { what: "forms of an attacker's own payment", requests: ({ own }) => checkoutPosts(() => own.token) },
  {
    what: 'callbacks for unknown attempts',
    requests: ({ own }) => [
      () => postJson(`/callbacks/${own.token.slice(0, 10)}${randomText(26)}`, {}),
      () => ({ ...postJson(`/callbacks/${randomText(36)}`, { status: 'SUCCESSFUL' }), method: 'PUT' }),
    ],
  },
  {
    what: 'webhooks for unknown accounts',
    requests: () => [
      () => postJson(`/callbacks/account/${randomText(24)}`, {}),
      () => ({ ...postJson(`/callbacks/account/${randomText(24)}`, {}), method: 'PUT' }),
      () => postJson(`/callbacks/account/${randomText(24)}/x`, {}),
      () => ({
        ...postJson(`/callbacks/account/${randomText(24)}/x`, { event: 'charge.success' }),
        method: 'PUT',
      }),
    ],
  },
  {
    what: 'the test phone',
    requests: () => [
      () => get('/sandbox/phone', page),
      () => get(`/sandbox/phone?number=024${1e6 + randomBelow(8e6)}`, page),
      () => get(`/sandbox/phone/${randomText(36)}`, page),
      () => postForm(`/sandbox/phone/${randomText(36)}`, { decision: 'approve' }),
    ],
  },
  {
    what: 'the card page of the sandbox',
    requests: () => [
      () => get(`/sandbox/card/${randomText(36)}`, page),
      () => get(`/sandbox/card/${randomText(36)}/3ds`, page),
      () => postForm(`/sandbox/card/${randomText(36)}`, { card_number: '4111111111111111' }),
      () => postForm(`/sandbox/card/${randomText(36)}/3ds`, { code: '1' }),
      () => postForm(`/sandbox/card/${randomText(36)}/cancel`, {}),
    ],
  },
  {
    what: 'the interface of the sandbox, without its key',
    requests: () => [
      () => postJson('/sandbox/provider/charges', {}),
      () => get(`/sandbox/provider/charges/${randomText(36)}`),
      () => postJson(`/sandbox/provider/charges/${randomText(36)}/withdraw`, {}),
      () => postJson('/sandbox/provider/refunds', {}),
      () => get(`/sandbox/provider/refunds/${randomText(36)}`),
      () => get('/sandbox/public/sandbox.css'),
    ],
  },
  {
    what: 'the demo shop, with invented visitors and forged notifications',
    requests: () => {
      const visitor = { ...page, cookie: `tollgate_shop=${'v'.repeat(32)}.${randomText(12)}` }
      return [
        () => get(`/?order=${randomText(12)}`, visitor),
        () => get(`/shop/steps?order=${randomText(12)}`, visitor),
        () => get(`/shop/return?order=${randomText(12)}`, visitor),
        () => get('/shop/code', page),
        () => sameSite(postForm('/shop/buy', { article: 'hat', ending: 'paid' })),
        () => sameSite(postForm('/shop/buy', { article: randomText(9) })),
        () => postForm('/shop/buy', { article: 'hat' }),
        () => sameSite(postForm('/shop/refund', { order: randomText(12) })),
        () => sameSite(postForm('/shop/refund?order=DEMO-NONE', {})),
        () => postJson('/shop/ipn', { invoice_id: randomText(12), status: 'paid' }),
        ...shopFiles.map(file => () => get(`/shop/${file}`)),
      ]
    },
  },
  {
    what: '/support with wrong tokens',
    requests: ({ invoice_id }) => [
      ...operator('GET', '/support'),
      ...operator('GET', `/support/enter?link=${randomText(22)}`),
      ...operator('GET', `/support?q=${invoice_id}`),
      ...operator('GET', '/support/support.css'),
      ...operator('POST', '/support/receipt'),
      ...operator('POST', '/support/redeliver'),
    ],
  },
  {
    what: '/inbox with wrong tokens',
    requests: ({ own }) => [
      ...operator('GET', '/inbox'),
      ...operator('GET', '/inbox/inbox.css'),
      ...operator('GET', `/inbox/${own.token.slice(0, 10)}/${randomText(26)}`),
      ...operator('GET', `/inbox/${own.token.slice(0, 10)}/${randomText(26)}/html`),
    ],
  },
  {
    what: 'the dashboard without a session, with forged forms and guessed passwords',
    requests: () => {
      const session = { ...page, cookie: `tollgate_session=${randomBytes(32).toString('base64url')}` }
      const guessed = [
        `/reset/${randomText(43)}`,
        `/invitation/${randomText(43)}`,
        `/keys/${randomText(10)}/${randomText(12)}/${randomText(43)}`,
      ]
      const read = ['/sign-in', '/second-factor', '/confirm', '/first-visit', '/reset', ...guessed]
      const files = ['/dashboard.css', '/counter.js', '/public/preview.js']
      return [
        ...['', '/operator', '/account', '/places', ...files, ...read].map(
          under => () => get(`/dashboard${under}`, session),
        ),
        ...[...read, '/sign-out', '/passkey-options', '/passkey'].map(
          under => () =>
            sameSite(
              postForm(`/dashboard${under}`, {
                email: 'ama@example.com',
                password: randomText(12),
                code: '123456',
                form_token: `${randomText(12)}.${randomText(43)}`,
              }),
            ),
        ),
      ]
    },
  },
  { what: '/metrics with wrong tokens', requests: () => operator('GET', '/metrics') },
  {
    what: 'documents',
    requests: () =>
      [
        '/docs',
        '/docs?q=signature',
        '/docs/interface',
        '/docs/sdk/php',
        '/docs/api',
        '/docs/api/initiatePayment',
        '/docs/docs.css',
        '/docs/try.js',
        '/docs/pictures/life.svg',
        '/docs/files/LICENSE',
        '/llms.txt',
      ]
        .concat('/openapi.json')
        .map(path => () => get(path, { 'accept-encoding': 'gzip' })),
  },
  {
    what: 'files of the checkout, and logos of nobody',
    requests: ({ own }) => [
      () => get('/public/checkout.css', { 'accept-encoding': 'br' }),
      () => get(`/public/accent/${randomBytes(3).toString('hex')}.css`),
      () => get(`/public/logos/${own.token.slice(0, 10)}/${randomText(10)}.png`),
    ],
  },
  {
    what: '/healthz, /readyz and /self-check',
    requests: () => [
      () => get('/healthz'),
      () => get('/readyz'),
      () => get('/self-check', { 'x-tollgate-question': `9000000000.${randomText(24)}.${randomText(43)}` }),
    ],
  },
  {
    what: 'the front page and unknown addresses',
    requests: () => [
      () => get('/', page),
      () => get(`/${randomText(10)}`, page),
      () => get(`/${randomText(10)}/${randomText(10)}`),
      () => get('/x/../support', page),
      () => get('/%73upport', page),
    ],
  },
  {
    what: 'odd methods',
    requests: ({ own }) =>
      ['HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND', 'PURGE', 'NONSENSE'].flatMap(
        method =>
          ['/', '/v1/mobile_agents_v2', `/checkout/${own.token}`, '/healthz', '/docs'].map(path => () => ({
            method,
            path,
          })),
      ),
  },
]

export const floods: readonly Attack[] = table.map(({ what, requests }) => ({
  what: `flood: ${what}`,
  run: crowd => {
    const all = requests(crowd.target)
    return crowd.flood(n => (all[n % all.length] as () => HostileRequest)())
  },
}))

// One request of each kind, as method and path.
export const floodedPaths = (target: Target) =>
  table.flatMap(({ requests }) =>
    requests(target).map(next => {
      const { method = 'GET', path } = next()
      return { method, path: path.split('?')[0] as string }
    }),
  )
