// Shows the buttons that copy a block of code, or the text beside them. The clipboard exists only in a secure context.
'use strict'

for (const button of document.querySelectorAll('.copy')) {
  const { clipboard } = navigator
  if (!clipboard) break
  button.hidden = false
  button.addEventListener('click', () => {
    const { textContent } = button.parentElement.querySelector('pre, .copied-text')
    const copied = () => (button.lastChild.textContent = button.dataset.copied)
    void clipboard.writeText(textContent).then(copied, () => {})
  })
}
