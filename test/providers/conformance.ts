import { afterAll, beforeAll, describe } from 'vitest'
import type { Provider, ProviderSettings } from '../../src/core/provider/provider.ts'
import { accountStories } from './stories/account.ts'
import { givenUpStories } from './stories/givenUp.ts'
import { lostStories } from './stories/lost.ts'
import { orderStories } from './stories/orders.ts'
import { refundStories } from './stories/refunds.ts'
import { settingStories } from './stories/settings.ts'
import { type Bench, stageOf } from './stories/stage.ts'
import { stepStories } from './stories/steps.ts'

// What every provider must do, whatever it speaks: whoever adds one gets these tests with it.
export function conformance(
  name: string,
  kind: Provider,
  settings: ProviderSettings,
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
  for (const method of stage.methods)
    describe.concurrent(`${name}: ${method.payment_method}`, () => {
      orderStories(stage, method)
      lostStories(stage, method)
      stepStories(stage, method)
      describe('refunds, if the provider has them', () => refundStories(stage, method))
      describe('given up, where the provider can ask for that', () => givenUpStories(stage, method))
    })
  accountStories(stage)
}
