import { exitCodes } from './exitCodes.ts'

// What nobody caught (a rejected promise included) leaves the program in a state that nobody thought of: it
// is told whole and the program ends. The latest teller replaces the one before.
export function onBug(tell: (error: unknown) => void) {
  process.removeAllListeners('uncaughtException')
  process.on('uncaughtException', error => {
    tell(error)
    process.exit(exitCodes.bug)
  })
}
