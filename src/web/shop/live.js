// The script of the demo shop, which works without it: it keeps the panel "What happens" up to date, and on a wide screen
// opens the checkout in a window of its own, so that both can be seen. It makes no markup from text.
'use strict'

const everyMs = 1000
const longestMs = 10000
const newest = '/shop/steps'
const form = document.querySelector('form.buy')
const isWide = matchMedia('(min-width: 64rem)')

let address = document.getElementById('happens').dataset.live
let followUntil = 0 // while an order is expected
let waitMs = everyMs
let timer
let shown = [] // the steps as the gateway wrote them

const part = (id, from) => (from || document).getElementById(id)
const itemsOf = panel => Array.from(panel.querySelectorAll('.timeline > li'))

// A step without its time left, which changes all the time.
function keyOf(item) {
  const copy = item.cloneNode(true)
  copy.querySelectorAll('.left').forEach(left => (left.textContent = ''))
  return copy.outerHTML
}

// The visitor's own time zone, buttons that need a script, and links that open beside the shop.
function enhance(element) {
  element.querySelectorAll('.refresh').forEach(link => link.remove())
  element.querySelectorAll('time').forEach(time => {
    time.textContent = new Date(time.dateTime).toLocaleTimeString('en-GB')
  })
  element.querySelectorAll('.note .btn[href]').forEach(link => {
    if (isWide.matches) link.target = 'checkout'
  })
  if (!navigator.clipboard) return
  element.querySelectorAll('.copy, .copy-curl').forEach(button => {
    button.hidden = false
    button.addEventListener('click', () => {
      const { textContent } = button.closest('.note, .code').querySelector('pre')
      const copied = () => (button.lastChild.textContent = 'Copied')
      void navigator.clipboard.writeText(textContent).then(copied, () => {})
    })
  })
}

function update(fresh) {
  const panel = part('happens')
  const next = part('happens', fresh)
  const isOther = next.dataset.live !== panel.dataset.live
  const items = itemsOf(panel)
  const keys = itemsOf(next).map(keyOf)
  const isChanged = isOther || keys.length !== items.length || keys.some((key, at) => key !== shown[at])
  if (isOther || keys.length !== items.length) {
    panel.replaceWith(next)
    enhance(next)
  } else
    itemsOf(next).forEach((item, at) => {
      const left = items[at].querySelector('.left')
      if (keys[at] !== shown[at]) {
        items[at].replaceWith(item)
        enhance(item)
      } else if (left) left.textContent = item.querySelector('.left').textContent
    })
  shown = keys
  const verdict = part('verdict', fresh)
  if (isChanged && verdict) part('verdict').replaceChildren(...verdict.childNodes)
  const over = 'over' in next.dataset
  part('happens').querySelector('.livenow').hidden = over && Date.now() > followUntil
  if (isOther) {
    address = next.dataset.live
    history.replaceState(null, '', address.replace('/shop/steps', '/'))
    followUntil = 0
  }
  return { over, isChanged }
}

function ask() {
  const request = new XMLHttpRequest()
  request.open('GET', Date.now() < followUntil ? newest : address)
  request.responseType = 'document' // parsed by the browser; no script in it runs
  request.timeout = longestMs
  request.onloadend = () => {
    const isRead = request.status === 200 && request.response && part('happens', request.response)
    const { over, isChanged } = isRead ? update(request.response) : {}
    waitMs = isChanged || Date.now() < followUntil ? everyMs : Math.min(waitMs * 1.3, longestMs)
    if (!over || Date.now() < followUntil) plan()
  }
  request.send()
}

function plan(ms = waitMs) {
  clearTimeout(timer)
  timer = setTimeout(() => (document.hidden && !isWide.matches ? plan() : ask()), ms)
}

// The window opens now, while the browser knows that the visitor has pressed a button. If it is blocked, the checkout
// opens in this one.
function openBeside() {
  const left = Math.max(0, screen.availWidth - 500)
  const beside = window.open('', 'checkout', `popup,width=480,height=860,left=${left},top=40`)
  if (!beside) return
  form.target = 'checkout'
  followUntil = Date.now() + 15000
  waitMs = everyMs
  part('happens').querySelector('.livenow').hidden = false
  plan(300)
}

// Back from a checkout that was opened beside the shop: the shop itself shows the rest.
const isBeside = window.name === 'checkout' && window.opener && location.search.includes('order=')
if (isBeside) window.close()

const panel = part('happens')
shown = itemsOf(panel).map(keyOf)
enhance(panel)
form.addEventListener('submit', () => isWide.matches && window.name !== 'checkout' && openBeside())
if (!('over' in panel.dataset)) {
  panel.querySelector('.livenow').hidden = false
  plan()
}
