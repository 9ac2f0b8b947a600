// MTN and Paystack, played, as the parent sees them.
import { startChild } from './child.js'

export async function startPlayed() {
  const { ask, cpuMs, stop } = startChild('./playedProcess.js')
  return {
    env: await ask('open'), // of a gateway that has an account there, by the provider
    // One of them, as customers pay by it.
    provider: name => ({ count: () => ask('count', name), forget: () => ask('forget', name), cpuMs }),
    hang: isSo => ask('hang', isSo),
    knockAt: url => ask('knockAt', url),
    stop,
  }
}
