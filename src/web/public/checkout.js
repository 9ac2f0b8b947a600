// Helps on the payment page, which works without it: it waits for news, counts the time, guesses the network of a
// number and leads back to the shop. It makes no markup from text. See docs/payment-page-scripts.md.
'use strict'

const main = document.querySelector('main')
const news = document.querySelector('.status')
const longestMs = 15000

const all = (selector, use) => Array.prototype.forEach.call(document.querySelectorAll(selector), use)
const fill = (text, way) => text.replace('{way}', way)

function say(words) {
  if (news.textContent !== words) news.textContent = words
}

// News. A lost connection is told where it is seen, and tried again more and more slowly; that it is back is only heard.
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
  function tell(words, isLost) {
    const was = document.body.classList.contains('offline')
    document.body.classList[isLost ? 'add' : 'remove']('offline')
    say(words || (was ? main.dataset.back : ''))
  }
  function heard(state) {
    const changed = state.version !== main.dataset.version
    tell(changed && state.words)
    waitMs = everyMs
    if (changed) setTimeout(() => location.replace(main.dataset.here), 700)
    else plan()
  }
  function lost() {
    tell(main.dataset.lost, true)
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
      .then(heard, lost)
      .then(() => clearTimeout(deadline))
  }
  window.addEventListener('online', ask)
  window.addEventListener('offline', lost)
  document.addEventListener('visibilitychange', ask)
  plan()
}

// Time, by this device's own pace: its clock may be wrong.
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

function timeLeft(left) {
  const minutes = Math.floor(left / 60)
  if (minutes >= 5) return minutes + ' min'
  return minutes ? minutes + ' min ' + (left % 60) + ' s' : left + ' s'
}

// The network of a number is a guess: numbers move between networks, so nothing is forced.
const prefixOf = number => (/^(?:(?:\+|00)?233)?0?([1-9]\d)\d/.exec(number.replace(/[^\d+]/g, '')) || [])[1]

function guess(form, way, input) {
  const told = way.querySelector('.guess')
  const prefix = input.value ? prefixOf(input.value) : input.dataset.prefix
  const fits = other => (other.dataset.prefixes || '').split(' ').indexOf(prefix) >= 0
  const likely = Array.prototype.filter.call(form.querySelectorAll('.way'), fits)[0]
  if (told.guessed === likely) return
  told.guessed = likely
  told.textContent = ''
  if (!likely) return
  told.textContent = fill(likely === way ? form.dataset.same : form.dataset.other, likely.dataset.way)
  if (likely !== way) told.appendChild(switchTo(likely, form.dataset.switch))
}

function switchTo(way, words) {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'plain'
  button.textContent = fill(words, way.dataset.way)
  // The button vanishes with its way: the focus goes to what was chosen, or a keyboard would start at the top again.
  button.addEventListener('click', () => {
    const radio = way.querySelector('[type=radio]')
    radio.click()
    radio.focus()
  })
  return button
}

// A number that was typed goes along when the customer changes the way.
function mindForm(form) {
  let number = ''
  all('.way', way => {
    const phone = way.querySelector('[type=tel]')
    if (!phone) return
    const radio = way.querySelector('[type=radio]')
    const look = () => guess(form, way, phone)
    const other = way.querySelector('details') // with a number on file, another one is typed behind it
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
    window.addEventListener('pageshow', show) // a browser fills in what was typed before, and closes what was open
    if (!radio.checked) return
    number = phone.value // of a form that came back
    look()
  })
}

// A second press changes nothing on the server; here it is not even sent.
function sendOnce(form) {
  const button = form.querySelector('[type=submit]')
  const words = button.textContent
  let sent = false
  form.addEventListener('submit', event => {
    if (event.submitter && event.submitter.hasAttribute('formaction')) return // into another language
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

all('[data-same]', mindForm)
all('form', sendOnce)
all('[data-left]', element => {
  const seconds = Number(element.dataset.left)
  const show = left => (element.textContent = timeLeft(left))
  if (seconds < 7200) count(seconds, show, () => location.replace(location.pathname + location.search))
})
// What was sent lives so long.
all('[data-ends]', element => {
  const bar = element.querySelector('progress')
  const words = element.querySelector('.left')
  const show = left => {
    bar.value = left
    words.textContent = timeLeft(left)
  }
  count(Number(element.dataset.ends), show, () => (element.textContent = element.dataset.over))
})
// A moment so many seconds from now, as the clock of this device will show it.
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
  const { clipboard } = navigator // only where the page came over a safe line
  if (!clipboard) return
  button.hidden = false
  button.addEventListener('click', () => {
    const told = () => say((button.textContent = button.dataset.copied))
    void clipboard.writeText(button.dataset.copy).then(told, () => {})
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
  // Whoever goes elsewhere and comes back to this page, as it was kept, stays.
  window.addEventListener('pagehide', () => {
    stays = true
    clearTimeout(leaving)
  })
  // Whoever reaches for the page reads it, and gets more time with every touch.
  for (const kind of ['keydown', 'pointerdown']) window.addEventListener(kind, () => leaveAfter(20))
}
