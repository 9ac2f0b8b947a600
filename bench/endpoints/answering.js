// The other side of `child.js`: what can be asked of this process, by name.
export function answerAll(asked) {
  const answer = async ({ number, what, given }) =>
    process.send?.({ number, answer: await asked[what](given) })
  process.on('message', (/** @type {any} */ question) => void answer(question))
  process.on('disconnect', () => process.exit()) // the parent is gone
}
