// Keeps the operator's live view up to date; without it the page has a link that reloads it. It makes no markup from text:
// the browser parses the page, and runs no script in it.
'use strict'

const everyMs = 10000
const isBusy = () => {
  const main = document.getElementById('main')
  return document.hidden || main.contains(document.activeElement) || main.querySelector('details[open]')
}

function refresh() {
  if (isBusy()) {
    plan()
    return
  }
  const request = new XMLHttpRequest()
  request.open('GET', location.href)
  request.responseType = 'document'
  request.timeout = everyMs
  request.onloadend = () => {
    const fresh = request.status === 200 && request.response
    if (fresh && fresh.getElementById('live-time') && !isBusy())
      for (const id of ['main', 'live-time'])
        document.getElementById(id).replaceWith(fresh.getElementById(id))
    plan()
  }
  request.send()
}

const plan = () => setTimeout(refresh, everyMs)
plan()
