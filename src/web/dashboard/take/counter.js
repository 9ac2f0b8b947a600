// The counter with scripts: the button says the amount, the network of a number shows, the payment is followed without a
// reload, the time counts down, and the link is copied or shared.
'use strict'

const find = selector => document.querySelector(selector)

const form = find('[data-counter]')
if (form) {
  const { total, currency } = form.elements
  const button = find('[data-ask]')
  const plain = button.textContent
  const write = () => {
    const typed = total.value.trim()
    const isAmount = /^\d{1,10}([.]\d{1,2})?$/.test(typed) && Number(typed) > 0
    button.textContent = isAmount
      ? button.dataset.ask.replace('{amount}', () => `${currency.value} ${typed}`)
      : plain
  }
  form.addEventListener('input', write)
  write()
  // One press is one submission; the server also accepts each form once.
  form.addEventListener('submit', () => setTimeout(() => (button.disabled = true)))
  addEventListener('pageshow', () => (button.disabled = false))

  const badge = find('[data-network]')
  const networks = { mtn: /^0(24|25|53|54|55|59)/, tel: /^0(20|50)/, at: /^0(26|27|56|57)/ }
  const names = { mtn: 'MTN', tel: 'TEL', at: 'AT' }
  const guess = () => {
    const digits = form.elements.phone.value.replace(/[^\d+]/g, '').replace(/^(\+|00)?233/, '0')
    const network = Object.keys(networks).find(name => networks[name].test(digits))
    badge.hidden = !network
    badge.className = `badge ${network ?? ''}`
    badge.textContent = names[network] ?? ''
  }
  form.elements.phone.addEventListener('input', guess)
  guess()
}

const follow = find('[data-state]')
if (follow) {
  const { state, version } = follow.dataset
  const hasChanged = async () => {
    const answer = await fetch(state, { headers: { accept: 'text/plain' }, redirect: 'error' })
    return answer.ok && (await answer.text()) !== version
  }
  const later = () => setTimeout(poll, document.hidden ? 10_000 : 2000)
  const poll = () =>
    void hasChanged().then(
      changed => (changed ? location.reload() : later()),
      later, // offline: the next poll may succeed
    )
  later()
}

const ends = find('[data-ends]')
if (ends) {
  const until = performance.now() + ends.dataset.ends * 1000
  const left = ends.querySelector('.left')
  const bar = ends.querySelector('progress')
  const timer = setInterval(() => {
    const seconds = Math.max(0, Math.ceil((until - performance.now()) / 1000))
    left.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
    bar.value = seconds
    if (seconds > 0) return
    clearInterval(timer)
    if (follow) location.reload()
  }, 1000)
}

for (const button of document.querySelectorAll('[data-copy]')) {
  if (!navigator.clipboard) break
  button.hidden = false
  button.addEventListener('click', () => {
    const copied = () => (button.querySelector('span').textContent = button.dataset.copied)
    void navigator.clipboard.writeText(button.dataset.copy).then(copied, () => {})
  })
}

const share = find('[data-share]')
if (share && navigator.share)
  share.addEventListener('click', event => {
    event.preventDefault()
    void navigator.share({ text: share.dataset.text }).catch(() => {})
  })
