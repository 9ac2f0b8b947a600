// Shows the checkout with the values of the form while they are typed. Without this script a button does it.
const form = document.querySelector('[data-preview-form]')
const frame = document.querySelector('[data-preview]')
const waitMs = 400

if (form && frame) {
  let timer
  const show = () => {
    const query = new URLSearchParams()
    for (const input of form.querySelectorAll('.field > [name]:not([type=hidden])'))
      query.set(input.name, input.value)
    frame.contentWindow.location.replace(`${frame.dataset.preview}?${query.toString()}`)
  }
  form.addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(show, waitMs)
  })
  form.querySelector('[data-show]').hidden = true
}
