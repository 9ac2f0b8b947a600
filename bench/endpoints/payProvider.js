// The provider that customers pay by, as the parent sees it.
import { startChild } from './child.js'

export async function startPayProvider() {
  const { ask, cpuMs, stop } = startChild('./payProviderProcess.js')
  return {
    env: { PAY_PROVIDER: `http://127.0.0.1:${await ask('open')}` }, // of a gateway that has its provider
    count: () => ask('count'),
    forget: () => ask('forget'),
    cpuMs,
    stop,
  }
}
