// A worker that looks for work again and again. It takes what is there without a pause, then rests; a ring wakes it
// at once. What it does can be done by several processes at the same time.
export type Loop = { wake(): void; stop(): Promise<void> }

export type LoopOptions = {
  restMs: number | (() => number)
  step(): Promise<number> // how much there was to do
  onTrouble(error: unknown): void
}

export function startLoop({ restMs, step, onTrouble }: LoopOptions): Loop {
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

  async function run() {
    while (!told.toStop) {
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
      wakeUp?.()
      return running
    },
  }
}
