import type { Pause } from '../core/databaseClock.ts'

// A worker that repeats a step: at once while the step returns work, else after a rest. `wake` ends the rest.
export type Loop = { wake(): void; stop(): Promise<void> }

export type LoopOptions = {
  restMs: number | (() => number)
  step(): Promise<number | void> // how much work there was, if that shortens the rest
  onTrouble(error: unknown): void
  pause?: Pause
}

export function startLoop({ restMs, step, onTrouble, pause }: LoopOptions): Loop {
  const state = { isStopping: false, isWoken: false } // woken since the last step began
  let endRest: (() => void) | undefined

  const rest = () =>
    new Promise<void>(resolve => {
      if (state.isWoken || state.isStopping) return resolve()
      const timer = setTimeout(resolve, typeof restMs === 'number' ? restMs : restMs())
      endRest = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  let endPause: (() => void) | undefined
  const stopping = new Promise<void>(resolve => void (endPause = resolve))

  async function run() {
    while (!state.isStopping) {
      const paused = pause?.()
      if (paused) {
        await Promise.race([paused, stopping])
        continue
      }
      state.isWoken = false
      const done = await step().catch(onTrouble)
      if (!done) await rest()
    }
  }

  const running = run()
  return {
    wake() {
      state.isWoken = true
      endRest?.()
    },
    stop() {
      state.isStopping = true
      endPause?.()
      endRest?.()
      return running
    },
  }
}
