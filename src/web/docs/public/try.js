// "Try it out": signs a request with a typed test key and sends it to this gateway. The secret key is never sent.
'use strict'

const encoder = new TextEncoder()

// crypto.subtle exists only in a secure context: https, or http on this machine.
const whyNot = () => {
  if (crypto.subtle) return ''
  return (
    `Your browser does not sign on this page, because ${location.origin} is neither https nor localhost. ` +
    'Open the page over https, or use the curl sample.'
  )
}

async function hmac(secret, text) {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), algorithm, false, ['sign'])
  const bytes = new Uint8Array(await crypto.subtle.sign('HMAC', key, encoder.encode(text)))
  return Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')
}

const pairs = fields =>
  Object.keys(fields)
    .sort()
    .map(name => `${name}=${fields[name]}`)
    .join('&')

// What each kind of operation signs, and where the hash goes.
const schemes = {
  async request(fields, secret) {
    const { invoice_id, merchant_key, total } = fields
    const text = pairs({ invoice_id, merchant_key, total })
    const hash = await hmac(secret, text)
    return { text, hash, fields: { ...fields, secure_hash: hash }, headers: {} }
  },
  async status(fields, secret) {
    const { invoice_id, merchant_key } = fields
    const text = pairs({ invoice_id, merchant_key })
    const hash = await hmac(secret, text)
    return { text, hash, fields: { ...fields, secure_hash: hash }, headers: {} }
  },
  async refund(fields, secret) {
    const { amount, invoice_id, merchant_key, refund_id } = fields
    const text = pairs({ amount, invoice_id, merchant_key, refund_id })
    const hash = await hmac(secret, text)
    return { text, hash, fields: { ...fields, secure_hash: hash }, headers: {} }
  },
  async refund_check({ merchant_key, refund_id }, secret) {
    const text = pairs({ merchant_key, refund_id })
    const hash = await hmac(secret, text)
    return { text, hash, fields: { merchant_key, refund_id, secure_hash: hash }, headers: {} }
  },
  async feed(fields, secret) {
    const t = Math.floor(Date.now() / 1000)
    const text = [t, fields.merchant_key, fields.after ?? '', fields.limit ?? ''].join('.')
    const hash = await hmac(secret, text)
    return { text, hash, fields, headers: { 'x-tollgate-signature': `t=${t},v1=${hash}` } }
  },
  async fields(fields, secret) {
    const timed = { ...fields, time: String(Math.floor(Date.now() / 1000)) }
    const text = pairs(timed)
    const hash = await hmac(secret, text)
    return { text, hash, fields: { ...timed, secure_hash: hash }, headers: {} }
  },
}

const inShell = text => `'${text.replaceAll("'", "'\\''")}'`

// The request for fetch, and the same as a command.
function requestOf({ method, path, body, scheme, page }, { fields, headers }) {
  if (method === 'GET') {
    const query = new URLSearchParams(fields)
    // A parameter of the path is not one of the query.
    const filled = path.replace(/\{(\w+)\}/, (_, name) => {
      query.delete(name)
      return encodeURIComponent(fields[name] ?? '')
    })
    const url = `${filled}?${query.toString()}`
    const flags = Object.entries(headers).map(([name, value]) => `-H ${inShell(`${name}: ${value}`)} `)
    return { url, init: { headers }, curl: `curl -sS ${flags.join('')}${inShell(location.origin + url)}` }
  }
  if (body === 'json') {
    const text = JSON.stringify(
      scheme === 'request' && !page ? { ...fields, generate_checkout_url: true } : fields,
    )
    const type = { 'content-type': 'application/json' }
    const curl = `curl -sS ${inShell(location.origin + path)} -H 'Content-Type: application/json' -d ${inShell(text)}`
    return { url: path, init: { method, headers: type, body: text }, curl }
  }
  const form = new URLSearchParams(fields)
  const curl = `curl -sS ${inShell(location.origin + path)} -d ${inShell(String(form))}`
  return { url: path, init: { method, body: form }, curl }
}

async function answerTo({ url, init }) {
  const started = performance.now()
  const response = await fetch(url, { ...init, redirect: 'manual', credentials: 'omit', cache: 'no-store' })
  const text = await response.text()
  const ms = Math.round(performance.now() - started)
  if (response.type === 'opaqueredirect')
    return { shown: `The browser would be redirected to the checkout page (${ms} ms).` }
  let parsed
  try {
    parsed = JSON.parse(text)
  } catch {
    // A line of text, or a page.
  }
  const body = parsed ? JSON.stringify(parsed, null, 2) : text
  return { shown: `HTTP ${response.status} in ${ms} ms\n${body}`, parsed }
}

function setUp(form) {
  const find = selector => form.querySelector(selector)
  const showFault = text => {
    const fault = find('[data-fault]')
    fault.hidden = text === ''
    fault.lastElementChild.textContent = text
  }
  const output = (name, text) => (find(`[data-output="${name}"]`).textContent = text)

  async function send() {
    const { merchant_key, secret_key } = form.elements
    if (!merchant_key.value.startsWith('tk_'))
      return showFault(
        'Use a test key, which begins with tk_. Never type the secret of a live key into a page.',
      )
    const filled = [...form.querySelectorAll('[data-sent]')].filter(({ value }) => value !== '')
    const fields = { merchant_key: merchant_key.value.trim() }
    for (const { name, value } of filled) fields[name] = value
    const signed = await schemes[form.dataset.scheme](fields, secret_key.value.trim())
    const request = requestOf(form.dataset, signed)
    output('string', signed.text)
    output('hash', signed.hash)
    output('curl', request.curl)
    output('answer', 'Sending …')
    find('[data-next]').hidden = true
    find('[data-result]').hidden = false
    const { shown, parsed } = await answerTo(request)
    output('answer', shown)
    if (parsed?.checkout_url) {
      find('[data-next]').hidden = false
      find('[data-next] a').href = new URL(parsed.checkout_url).pathname
      sessionStorage.setItem('invoice_id', fields.invoice_id)
    }
    if (parsed?.refund_id) sessionStorage.setItem('refund_id', parsed.refund_id)
    // A new id for the next press, unless the developer chose one.
    const { invoice_id } = form.elements
    if (form.dataset.scheme === 'request' && invoice_id.value === invoice_id.dataset.made)
      newInvoice(invoice_id)
  }

  form.addEventListener('submit', event => {
    event.preventDefault()
    showFault(whyNot())
    if (!whyNot()) send().catch(error => showFault(`The request could not be sent: ${error.message}`))
  })
  const { invoice_id } = form.elements
  if (invoice_id && form.dataset.scheme === 'request') newInvoice(invoice_id)
  else if (invoice_id) invoice_id.value = sessionStorage.getItem('invoice_id') ?? ''
  const { refund_id } = form.elements
  if (refund_id)
    refund_id.value =
      form.dataset.scheme === 'refund'
        ? `R-${Date.now().toString(36)}`
        : (sessionStorage.getItem('refund_id') ?? '')
  showFault(whyNot())
  find('.try-off').hidden = true
  find('.try-on').hidden = false
}

function newInvoice(input) {
  input.value = `TRY-${Date.now().toString(36)}`
  input.dataset.made = input.value
}

// Only a gateway for this machine alone answers this, with the keys of its demo shop.
async function fillDemoKeys(forms) {
  const response = await fetch('/docs/demo-keys', { cache: 'no-store' })
  if (!response.ok) return
  const keys = await response.json()
  if (!keys.merchant_key) return
  for (const form of forms) {
    const { merchant_key, secret_key } = form.elements
    if (merchant_key.value || secret_key.value) continue
    merchant_key.value = keys.merchant_key
    secret_key.value = keys.secret_key
    form.querySelector('[data-demo]').hidden = false
  }
}

const forms = [...document.querySelectorAll('form.try')]
for (const form of forms) setUp(form)
fillDemoKeys(forms).catch(() => {})
