import { forgetOldPaths } from '../../actions/notifications/forgetOldPaths.ts'
import { forgetOldTries } from '../../actions/notifications/forgetOldTries.ts'
import { startLoop } from '../loop.ts'
import { createDispatcher, type Dispatcher, type DispatcherOptions } from './dispatcher.ts'

const forgetRestMs = 3_600_000

export type Deliveries = Pick<Dispatcher, 'inFlight' | 'breakers' | 'reserve'> & {
  wake(): void
  stop(): Promise<void>
}

// Carries notifications. Who commits one in this process hands it over, or gives a signal; what other processes commit is
// found by looking, and so is everything when a signal is lost.
export function startDeliveries(options: Omit<DispatcherOptions, 'wake'>): Deliveries {
  const dispatcher = createDispatcher({ ...options, wake: () => loop.wake() })
  const onTrouble = options.watch.trouble
  const pause = () => {
    const paused = options.pause?.()
    if (paused) dispatcher.leave()
    return paused
  }
  const loop = startLoop({ restMs: dispatcher.restMs, step: dispatcher.step, onTrouble, pause })
  const forgetting = startLoop({
    restMs: forgetRestMs,
    step: async () =>
      (await forgetOldTries(options.db, options.clock())) +
      (await forgetOldPaths(options.db, options.clock())),
    onTrouble,
    pause,
  })
  return {
    inFlight: dispatcher.inFlight,
    breakers: dispatcher.breakers,
    reserve: dispatcher.reserve,
    wake() {
      dispatcher.expectNew()
      loop.wake()
    },
    async stop() {
      await Promise.all([loop.stop(), forgetting.stop()])
      await dispatcher.finished()
    },
  }
}
