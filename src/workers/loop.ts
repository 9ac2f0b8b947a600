import type { Pause } from '../core/databaseClock.ts'
import type { Heartbeat } from '../runtime/heartbeats.ts'

// A worker that repeats a step: at once while the step returns work, else after a rest. `wake` ends the rest.
export type Loop = { wake(): void; stop(): Promise<void> }

export type LoopOptions = {
  restMs: number | (() => number)
  step(beat: () => void): Promise<number | void> // how much work there was, if that shortens the rest; long steps call `beat`
  onTrouble(error: unknown): void
  pause?: Pause
  heartbeat: Heartbeat | undefined
}

export function startLoop({ restMs, step, onTrouble, pause, heartbeat }: LoopOptions): Loop {
  const state = { isStopping: false, isWoken: false } // woken since the last step began
  let endRest: (() => void) | undefined

  const rest = () =>
    new Promise<void>(resolve => {
      if (state.isWoken || state.isStopping) return resolve()
      const ms = typeof restMs === 'number' ? restMs : restMs()
      heartbeat?.rests(ms)
      const timer = setTimeout(resolve, ms)
      endRest = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  const beat = () => heartbeat?.beat()

  let endPause: (() => void) | undefined
  const stopping = new Promise<void>(resolve => void (endPause = resolve))

  async function run() {
    while (!state.isStopping) {
      const paused = pause?.()
      if (paused) {
        heartbeat?.isSilent()
        await Promise.race([paused, stopping])
        continue
      }
      state.isWoken = false
      beat()
      const done = await step(beat).catch(onTrouble)
      if (!done) await rest()
    }
    heartbeat?.isSilent()
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
