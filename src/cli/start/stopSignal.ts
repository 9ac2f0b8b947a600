import { exitCodes } from '../exitCodes.ts'

// npm and some supervisors pass a Ctrl-C on to a program that the terminal has already told: one wish, twice.
const sameWishMs = 500

export type StopSignal = { asked: Promise<void>; wasAsked(): boolean }

// Resolves at the first Ctrl-C or TERM. A later one means "at once".
export function listenForStop(onAsked: () => void): StopSignal {
  let askedAt: number | undefined
  const asked = new Promise<void>(resolve => {
    const hear = () => {
      const now = performance.now()
      if (askedAt === undefined) {
        askedAt = now
        onAsked()
        resolve()
      } else if (now - askedAt > sameWishMs) process.exit(exitCodes.forced)
    }
    process.on('SIGINT', hear)
    process.on('SIGTERM', hear)
  })
  return { asked, wasAsked: () => askedAt !== undefined }
}
