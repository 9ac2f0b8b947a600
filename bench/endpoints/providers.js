// The simulated providers as the parent sees them.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export const providers = ['sick', 'well']
export const simulatedProviders = Object.fromEntries(providers.map(name => [name, './simulatedProvider.js']))

export async function startProviders() {
  const child = fork(fileURLToPath(new URL('./providersProcess.js', import.meta.url)))
  const [{ port }] = await once(child, 'message')
  return {
    // Settings of a gateway that knows them.
    env: Object.fromEntries(
      providers.map(name => [`${name.toUpperCase()}_PROVIDER`, `http://127.0.0.1:${port}/${name}`]),
    ),
    nextQuestion: async name => {
      for (;;) if ((await once(child, 'message'))[0].asked === name) return
    },
    stop: () => child.kill(),
  }
}
