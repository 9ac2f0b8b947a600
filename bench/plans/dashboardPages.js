// The pages of the dashboard that are measured, by the address below the merchant's or the operator's part. What is searched
// is in rows/dashboard.js.

export const sought = 1041 // the number of a payment that has its own address; it is among the oldest
const phone = `024${String(sought).padStart(7, '0')}`

/** @typedef {{ merchant_id: string, reference: string, middle: string, line: string, today: string,
 *   yesterday: string, monthAgo: string, oldDay: string }} Place */
/** @typedef {{ label: string, path: (place: Place) => string, below?: number, form?: string,
 *   fields?: Record<string, string> }} Page  `form`: the page whose form is submitted with the fields */

const overviewBelowMs = 300

/** @type {Record<string, Page>} */
export const merchantPages = {
  day: { label: 'overview, day', path: () => '', below: overviewBelowMs },
  week: { label: 'overview, week', path: () => '?period=week', below: overviewBelowMs },
  month: { label: 'overview, month', path: () => '?period=month', below: overviewBelowMs },
  list: { label: 'payments', path: () => '/payments' },
  second: { label: 'payments, an old page', path: ({ reference }) => `/payments?before=${reference}` },
  middle: { label: 'payments, a page in the middle', path: ({ middle }) => `/payments?before=${middle}` },
  newer: { label: 'payments, a newer page', path: ({ middle }) => `/payments?after=${middle}` },
  failed: { label: 'payments, failed', path: () => '/payments?status=failed' },
  waiting: { label: 'payments, awaiting', path: () => '/payments?status=awaiting_payment' },
  waitingOld: {
    label: 'payments, awaiting, of a month',
    path: ({ monthAgo }) => `/payments?status=awaiting_payment&to=${monthAgo}`,
  }, // none
  rare: { label: 'payments, a rare outlet', path: () => '/payments?outlet=RARE' }, // the oldest
  method: { label: 'payments, a method and an outlet', path: () => '/payments?method=card&outlet=OUT-3' },
  noMethod: { label: 'payments, a method that none has', path: () => '/payments?method=ghqr' },
  dates: {
    label: 'payments, failed of a day',
    path: ({ oldDay }) => `/payments?status=failed&from=${oldDay}&to=${oldDay}`,
  },
  invoice: { label: 'search, invoice', path: () => `/payments?q=INV-${sought}` },
  prefix: { label: 'search, beginning of an invoice', path: () => `/payments?q=INV-${sought}9` },
  wide: { label: 'search, beginning of a third of the invoices', path: () => '/payments?q=INV-' },
  wideFailed: { label: 'the same, of a method that none has', path: () => '/payments?q=INV-&method=ghqr' },
  reference: { label: 'search, reference', path: ({ reference }) => `/payments?q=${reference}` },
  phone: { label: 'search, phone', path: () => `/payments?q=${phone}` },
  nobody: { label: 'search, phone of nobody', path: () => '/payments?q=0209999999' },
  email: { label: 'search, email', path: () => `/payments?q=c${sought}@mail.example` },
  shared: { label: 'search, email of every second payment', path: () => '/payments?q=shop@mail.example' },
  provider: { label: "search, provider's reference", path: () => `/payments?q=MP${sought}` },
  amount: { label: 'search, amount of every fourth payment', path: () => '/payments?q=25.50' },
  other: { label: 'search, amount of none', path: () => '/payments?q=77.77' },
  paidOther: { label: 'search, amount of none, paid', path: () => '/payments?q=77.77&status=paid' },
  paidAmount: { label: 'search, amount of few, paid', path: () => '/payments?q=105.50&status=paid' },
  name: { label: 'search, name of every twentieth payment', path: () => '/payments?q=Ama' },
  stranger: { label: 'search, name of nobody', path: () => '/payments?q=Zubeiru' },
  paidStranger: { label: 'search, name of nobody, paid', path: () => '/payments?q=Zubeiru&status=paid' },
  payment: { label: 'a payment', path: ({ reference }) => `/payments/${reference}` },
  refundForm: { label: 'the form of a refund', path: ({ reference }) => `/payments/${reference}/refund` },
  balance: { label: 'balance', path: () => '/money' },
  statement: { label: 'statement of today', path: () => '/money/statement' },
  statementMonth: {
    label: 'statement of 30 days',
    path: ({ monthAgo, today }) => `/money/statement?from=${monthAgo}&to=${today}`,
  },
  statementLater: {
    label: 'statement of 30 days, a later page',
    path: ({ monthAgo, today, line }) =>
      `/money/statement?from=${monthAgo}&to=${today}&after=${encodeURIComponent(line)}`,
  },
  closing: { label: 'closing of today', path: () => '/money/closing' },
  closingDay: { label: 'closing of yesterday', path: ({ yesterday }) => `/money/closing?day=${yesterday}` },
  closingMonth: {
    label: 'closing of 30 days',
    path: ({ monthAgo, today }) => `/money/closing?from=${monthAgo}&to=${today}`,
  },
  refunds: { label: 'refunds', path: () => '/money/refunds' },
  refundsOpen: { label: 'refunds that need a person', path: () => '/money/refunds?state=needs_action' },
  refundsFailed: { label: 'refunds, failed', path: () => '/money/refunds?state=failed' }, // none
  disputes: { label: 'disputes', path: () => '/money/disputes' },
  disputesOpen: { label: 'disputes, open', path: () => '/money/disputes?kind=open' },
  reversals: { label: 'reversals', path: () => '/money/disputes?kind=reversals' },
  take: { label: 'take a payment', path: () => '/take' },
  developers: { label: 'developers', path: () => '/developers' },
  requests: { label: 'request log', path: () => '/developers/requests' },
  settings: { label: 'settings', path: () => '/settings' },
  team: { label: 'team', path: () => '/settings/team' },
  audit: { label: 'audit log', path: () => '/settings/audit' },
  auditAction: { label: 'audit log, one action', path: () => '/settings/audit?action=payment.cancel' }, // none
}

/** @type {Record<string, Page>} */
export const operatorPages = {
  live: { label: 'operator, live', path: () => '' },
  endpoints: { label: 'operator, failing endpoints', path: () => '/endpoints' },
  merchants: { label: 'operator, merchants', path: () => '/merchants' },
  merchant: { label: 'operator, a merchant', path: ({ merchant_id }) => `/merchants/${merchant_id}` },
  accounts: { label: 'operator, provider accounts', path: () => '/accounts' },
  tasks: { label: 'operator, tasks', path: () => '/tasks' },
  tasksClosed: { label: 'operator, closed tasks', path: () => '/tasks?state=closed' },
  approvals: { label: 'operator, refunds', path: () => '/refunds' },
  messages: { label: 'operator, messages', path: () => '/messages' },
  dropped: { label: 'operator, dropped messages', path: () => '/messages?state=failed' },
  people: { label: 'operator, privacy', path: () => '/people' },
  person: {
    label: 'operator, privacy, find by phone',
    path: () => '/people/find',
    form: '/people',
    fields: { person: phone },
  },
  personByMail: {
    label: 'operator, privacy, find by an email of every second payment',
    path: () => '/people/find',
    form: '/people',
    fields: { person: 'shop@mail.example' },
  },
  users: { label: 'operator, users', path: () => '/users' },
  operatorAudit: { label: 'operator, audit log', path: () => '/audit' },
  operatorSearch: { label: 'operator, search of a phone', path: () => `/search?q=${phone}` },
  operatorShared: {
    label: 'operator, search of an email of every second payment',
    path: () => '/search?q=shop@mail.example',
  },
}
