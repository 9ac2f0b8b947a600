// The simulated providers as the parent sees them, and a checkout that has lines to them.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, cpSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { versionAt } from '../version.js'

export const providers = ['sick', 'well']

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

// As somebody adds a channel: one more file in the folder, of a copy of the checkout.
export async function withSimulatedChannels({ folder }, copy) {
  for (const part of ['src', 'bin', 'build.js', 'package.json'])
    cpSync(join(folder, part), join(copy, part), { recursive: true })
  symlinkSync(join(folder, 'node_modules'), join(copy, 'node_modules'))
  const channel = fileURLToPath(new URL('./simulatedChannel.js', import.meta.url))
  for (const name of providers) copyFileSync(channel, join(copy, 'src/channels', `${name}.js`))
  const version = versionAt(copy)
  await version.build()
  return version
}
