import { forgetOldTries } from '../../actions/notifications/forgetOldTries.ts'
import { startLoop } from '../loop.ts'
import { type Courier, type CourierOptions, createCourier } from './dispatcher.ts'

const forgetRestMs = 3_600_000

export type Deliveries = Pick<Courier, 'inFlight' | 'breakers'> & { wake(): void; stop(): Promise<void> }

// Carries notifications. A signal says that one was committed in this process; what other processes commit is found
// by looking, and so is everything when a signal is lost.
export function startDeliveries(options: Omit<CourierOptions, 'wake'>): Deliveries {
  const courier = createCourier({ ...options, wake: () => loop.wake() })
  const onTrouble = options.watch.trouble
  const pause = () => {
    const paused = options.pause?.()
    if (paused) courier.leave()
    return paused
  }
  const loop = startLoop({ restMs: courier.restMs, step: courier.step, onTrouble, pause })
  const forgetting = startLoop({
    restMs: forgetRestMs,
    step: () => forgetOldTries(options.db, options.clock()),
    onTrouble,
    pause,
  })
  return {
    inFlight: courier.inFlight,
    breakers: courier.breakers,
    wake() {
      courier.hear()
      loop.wake()
    },
    async stop() {
      await Promise.all([loop.stop(), forgetting.stop()])
      await courier.finished()
    },
  }
}
