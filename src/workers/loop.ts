import type { Pause } from '../core/databaseClock.ts'

// A worker that looks for work again and again. It takes what is there without a pause, then rests; a ring wakes it
// at once. What it does can be done by several processes at the same time.
export type Loop = { wake(): void; stop(): Promise<void> }

export type LoopOptions = {
  restMs: number | (() => number)
  step(): Promise<number> // how much there was to do
  onTrouble(error: unknown): void
  pause?: Pause
}

export function startLoop({ restMs, step, onTrouble, pause }: LoopOptions): Loop {
  const told = { toStop: false, toWake: false }
  let wakeUp: (() => void) | undefined

  const rest = () =>
    new Promise<void>(resolve => {
      if (told.toWake || told.toStop) return resolve()
      const timer = setTimeout(resolve, typeof restMs === 'number' ? restMs : restMs())
      wakeUp = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  let stop: (() => void) | undefined
  const stopped = new Promise<void>(resolve => void (stop = resolve))

  async function run() {
    while (!told.toStop) {
      const paused = pause?.()
      if (paused) {
        await Promise.race([paused, stopped])
        continue
      }
      told.toWake = false
      const done = await step().catch((error: unknown) => {
        onTrouble(error)
        return 0
      })
      if (done === 0) await rest()
    }
  }

  const running = run()
  return {
    wake() {
      told.toWake = true
      wakeUp?.()
    },
    stop() {
      told.toStop = true
      stop?.()
      wakeUp?.()
      return running
    },
  }
}
