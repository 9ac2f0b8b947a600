// Shows the forms for passkeys where the browser has them, and puts the answer of the authenticator into the form. It
// makes no markup from text.
'use strict'

const bytesOf = text =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), char => char.charCodeAt(0))

const textOf = buffer =>
  btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')

const withIds = (list = []) => list.map(one => ({ ...one, id: bytesOf(one.id) }))

const creationOf = options => ({
  ...options,
  challenge: bytesOf(options.challenge),
  user: { ...options.user, id: bytesOf(options.user.id) },
  excludeCredentials: withIds(options.excludeCredentials),
})

const requestOf = options => ({
  ...options,
  challenge: bytesOf(options.challenge),
  allowCredentials: withIds(options.allowCredentials),
})

function written({ id, rawId, type, response, authenticatorAttachment }) {
  const { clientDataJSON, attestationObject, authenticatorData, signature, userHandle } = response
  const parts = { clientDataJSON, attestationObject, authenticatorData, signature, userHandle }
  const texts = Object.entries(parts)
    .filter(([, part]) => part)
    .map(([name, part]) => [name, textOf(part)])
  return JSON.stringify({
    id,
    rawId: textOf(rawId),
    type,
    authenticatorAttachment,
    clientExtensionResults: {},
    response: Object.fromEntries(texts),
  })
}

// The browser leaves the page when it is done.
async function answer(form) {
  const { passkey, options: address } = form.dataset
  const body = new URLSearchParams({ form_token: form.elements.form_token.value })
  const asked = await fetch(address, { method: 'POST', body })
  if (asked.redirected) {
    location.assign(asked.url) // the password is asked for first
    return
  }
  const options = await asked.json()
  const credential =
    passkey === 'create'
      ? await navigator.credentials.create({ publicKey: creationOf(options) })
      : await navigator.credentials.get({ publicKey: requestOf(options) })
  form.elements.credential.value = written(credential)
  form.submit()
}

for (const form of document.querySelectorAll('form[data-passkey]')) {
  if (!window.PublicKeyCredential) break
  form.hidden = false
  const fault = form.querySelector('.fault')
  form.addEventListener('submit', event => {
    event.preventDefault()
    fault.hidden = true
    answer(form).catch(() => (fault.hidden = false))
  })
}
