// The simulators of MTN and Paystack, as the parent process sees them.
import { startChild } from './child.js'

export async function startSimulators() {
  const { ask, cpuMs, stop } = startChild('./simulatorsProcess.js')
  return {
    env: await ask('open'), // of a gateway that has an account there, by the provider
    // One of them, as customers pay by it.
    provider: name => ({ count: () => ask('count', name), forget: () => ask('forget', name), cpuMs }),
    hang: isSo => ask('hang', isSo),
    sendWebhooksTo: url => ask('sendWebhooksTo', url),
    stop,
  }
}
