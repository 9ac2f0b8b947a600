import { afterAll, beforeAll, describe } from 'vitest'
import type { ChannelKind, ChannelSettings } from '../../src/core/channel/channel.ts'
import { accountStories } from './stories/account.ts'
import { givenUpStories } from './stories/givenUp.ts'
import { lostStories } from './stories/lost.ts'
import { orderStories } from './stories/orders.ts'
import { settingStories } from './stories/settings.ts'
import { type Bench, stageOf } from './stories/stage.ts'
import { stepStories } from './stories/steps.ts'

// What every channel must do, whatever it speaks: whoever adds one gets these tests with it.
export function conformance(
  name: string,
  kind: ChannelKind,
  settings: ChannelSettings,
  open: () => Promise<Bench>,
) {
  let bench: Bench
  beforeAll(async () => {
    bench = await open()
  })
  const stage = stageOf(name, kind, settings, () => bench)
  afterAll(async () => {
    await stage.stop()
    await bench.stop()
  })
  settingStories(stage)
  for (const way of stage.ways)
    describe.concurrent(`${name}: ${way.payment_method}`, () => {
      orderStories(stage, way)
      lostStories(stage, way)
      stepStories(stage, way)
      describe('given up, where the channel can ask for that', () => givenUpStories(stage, way))
    })
  accountStories(stage)
}
