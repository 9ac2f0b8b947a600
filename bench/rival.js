// A rival at work, in a process of its own.
import { send } from './rivalSend.js'

process.once('message', async ({ rival, url, options }) => {
  const { work } = await import(rival)
  const stop = await work(url, options, send)
  process.once('message', async () => {
    await stop()
    process.exit()
  })
  process.send('at work')
})
process.on('disconnect', () => process.exit()) // the parent is gone
