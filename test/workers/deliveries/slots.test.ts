import { afterAll, beforeAll, expect, test } from 'vitest'
import { seconds } from '../../support/payments/rows.ts'
import { createGateKeeper, playedOutbound, says } from './answers.ts'
import { carryAll, openPost, type Post, stepUntilRest } from './post.ts'

let post: Post
beforeAll(async () => void (post = await openPost(12)))
afterAll(() => post.close())

test('a slot comes back as what it was taken for, although another worker has tried the delivery meanwhile', async () => {
  const monitor = createGateKeeper()
  const dispatcher = post.dispatcher(playedOutbound(monitor.hold))
  const other = post.dispatcher(playedOutbound(() => says(404)))
  for (let at = 0; at < 6; at++) await post.tell({ merchant_id: post.ids[0] as string })
  await stepUntilRest(dispatcher, monitor) // one is on its way, the others wait in sight
  await carryAll(other)
  post.pass(seconds(12))
  while (monitor.waiting.length > 0) {
    monitor.letGo()
    await dispatcher.finished()
    await dispatcher.step() // what it saw were first tries
    await stepUntilRest(dispatcher, monitor)
  }
  expect((await post.deliveries()).every(({ acknowledged_at }) => acknowledged_at !== null)).toBe(true)

  for (const [at, merchant_id] of post.ids.slice(1).entries())
    for (let lane = 0; lane < 7; lane++)
      await post.addCrowd(merchant_id, 1, `https://shop${at}-${lane}.example/`, true)
  await stepUntilRest(dispatcher, monitor)
  expect(monitor.waiting).toHaveLength(64)
  monitor.letGo()
  await dispatcher.finished()
})
