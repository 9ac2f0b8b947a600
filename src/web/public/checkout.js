// The script of the payment page, which works without it: it polls for changes, counts the time left, guesses the
// network of a number and redirects to the shop. It makes no markup from text. See docs/payment-page-scripts.md.
'use strict'

const main = document.querySelector('main')
const status = document.querySelector('.status')
const longestMs = 15000

const all = (selector, use) => Array.prototype.forEach.call(document.querySelectorAll(selector), use)
const fill = (text, method) => text.replace('{method}', method)

function announce(words) {
  if (status.textContent !== words) status.textContent = words
}

// Polls the state. While the connection is lost, the page shows it, and the interval doubles. A screen reader announces
// that it is back.
function poll() {
  const everyMs = main.dataset.poll * 1000
  let waitMs = everyMs
  let timer
  let asking = false

  function plan() {
    asking = false
    clearTimeout(timer)
    timer = setTimeout(ask, waitMs)
  }
  function show(words, isLost) {
    const was = document.body.classList.contains('offline')
    document.body.classList[isLost ? 'add' : 'remove']('offline')
    announce(words || (was ? main.dataset.back : ''))
  }
  function received(state) {
    const changed = state.version !== main.dataset.version
    show(changed && state.words)
    waitMs = everyMs
    if (changed) setTimeout(() => location.replace(main.dataset.here), 700)
    else plan()
  }
  function lost() {
    show(main.dataset.lost, true)
    waitMs = Math.min(waitMs * 2, longestMs)
    plan()
  }
  function ask() {
    if (asking || document.hidden) return
    asking = true
    const abort = window.AbortController ? new AbortController() : {}
    const deadline = setTimeout(() => abort.abort && abort.abort(), longestMs)
    void fetch(main.dataset.state, { cache: 'no-store', signal: abort.signal })
      .then(answer => (answer.ok ? answer.json() : Promise.reject(new Error(answer.status))))
      .then(received, lost)
      .then(() => clearTimeout(deadline))
  }
  window.addEventListener('online', ask)
  window.addEventListener('offline', lost)
  document.addEventListener('visibilitychange', ask)
  plan()
}

// Counts by the monotonic clock, because the wall clock of the device may be wrong.
function count(seconds, show, end) {
  const from = performance.now()
  const timer = setInterval(() => {
    const left = Math.round(seconds - (performance.now() - from) / 1000)
    if (left > 0) show(left)
    else {
      clearInterval(timer)
      end()
    }
  }, 1000)
}

// Of the payment. A request ends sooner, so its seconds are counted.
function timeLeft(left) {
  const minutes = Math.floor(left / 60)
  if (minutes >= 5) return minutes + ' min'
  return minutes ? minutes + ' min ' + (left % 60) + ' s' : left + ' s'
}
const clock = left => Math.floor(left / 60) + ':' + String(left % 60).padStart(2, '0')

// The network is only a guess, because numbers move between networks. So nothing is forced.
const prefixOf = number => (/^(?:(?:\+|00)?233)?0?([1-9]\d)\d/.exec(number.replace(/[^\d+]/g, '')) || [])[1]

function guess(form, method, input) {
  const hint = method.querySelector('.guess')
  const prefix = input.value ? prefixOf(input.value) : input.dataset.prefix
  const fits = other => (other.dataset.prefixes || '').split(' ').indexOf(prefix) >= 0
  const likely = Array.prototype.filter.call(form.querySelectorAll('.method'), fits)[0]
  if (hint.guessed === likely) return
  hint.guessed = likely
  hint.textContent = ''
  if (!likely) return
  hint.textContent = fill(likely === method ? form.dataset.same : form.dataset.other, likely.dataset.method)
  if (likely !== method) hint.appendChild(switchTo(likely, form.dataset.switch))
}

function switchTo(method, words) {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'btn plain'
  button.textContent = fill(words, method.dataset.method)
  // The button disappears with its payment method, so the focus moves to the new choice. Otherwise the keyboard would
  // start at the top of the page.
  button.addEventListener('click', () => {
    const radio = method.querySelector('[type=radio]')
    radio.click()
    radio.focus()
  })
  return button
}

// A typed number is kept when the customer changes the payment method.
function watchNumber(form) {
  let number = ''
  all('.method', method => {
    const phone = method.querySelector('[type=tel]')
    if (!phone) return
    const radio = method.querySelector('[type=radio]')
    const look = () => guess(form, method, phone)
    const other = method.querySelector('details') // with a number on file, another one is typed in here
    const show = () => other && phone.value && (other.open = true)
    phone.addEventListener('input', () => {
      number = phone.value
      look()
    })
    radio.addEventListener('change', () => {
      if (number) phone.value = number
      show()
      look()
    })
    window.addEventListener('pageshow', show) // browsers restore the input, but not the open state
    if (!radio.checked) return
    number = phone.value // the form is shown again
    look()
  })
}

// The server ignores a second submission. It is not sent in the first place.
function sendOnce(form) {
  const button = form.querySelector('[type=submit]')
  const words = button.textContent
  let sent = false
  form.addEventListener('submit', event => {
    if (event.submitter && event.submitter.hasAttribute('formaction')) return // changes the language
    if (sent) event.preventDefault()
    sent = true
    button.setAttribute('aria-disabled', 'true')
    button.textContent = form.dataset.busy
  })
  window.addEventListener('pageshow', () => {
    sent = false
    button.removeAttribute('aria-disabled')
    button.textContent = words
  })
}

all('[data-same]', watchNumber)
all('form', sendOnce)
all('[data-left]', element => {
  const seconds = Number(element.dataset.left)
  const show = left => (element.textContent = timeLeft(left))
  if (seconds < 7200) count(seconds, show, () => location.replace(location.pathname + location.search))
})
// The remaining time of a request.
all('[data-ends]', element => {
  const bar = element.querySelector('progress')
  const words = element.querySelector('.left')
  const show = left => {
    bar.value = left
    words.textContent = clock(left)
  }
  count(Number(element.dataset.ends), show, () => (element.textContent = element.dataset.over))
})
// A time so many seconds from now, by the clock of this device.
all('[data-in]', element => {
  const minuteMs = 60000
  const at = new Date(Math.ceil((Date.now() + element.dataset.in * 1000) / minuteMs) * minuteMs)
  const digits = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }
  element.textContent = at.toLocaleTimeString(document.documentElement.lang, digits)
})
all('[data-count]', element => {
  const seconds = element.dataset.count
  const words = element.textContent
  const show = left => (element.textContent = words.replace(seconds, left))
  count(Number(seconds), show, () => (element.hidden = true))
})
all('[data-print]', button => {
  button.hidden = false
  button.addEventListener('click', () => window.print())
})
all('[data-copy]', button => {
  const { clipboard } = navigator // only in a secure context
  if (!clipboard) return
  button.hidden = false
  button.addEventListener('click', () => {
    const copied = () => announce((button.textContent = button.dataset.copied))
    void clipboard.writeText(button.dataset.copy).then(copied, () => {})
  })
})
all('#faults', faults => faults.focus())
if (main.dataset.poll && window.fetch) poll()
const shop = main.dataset.go || ''
if (/^https?:/i.test(shop) && window.top === window) {
  let leaving
  let stays = false
  const leaveAfter = seconds => {
    clearTimeout(leaving)
    if (stays) return
    leaving = setTimeout(() => location.replace(shop), seconds * 1000)
  }
  leaveAfter(main.dataset.after)
  // A customer who leaves and comes back to this page, from the browser's cache, stays.
  window.addEventListener('pagehide', () => {
    stays = true
    clearTimeout(leaving)
  })
  // A customer who touches the page is reading it, and gets more time.
  for (const kind of ['keydown', 'pointerdown']) window.addEventListener(kind, () => leaveAfter(20))
}
