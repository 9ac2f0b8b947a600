// A checkout that has lines to simulated providers.
import { copyFileSync, cpSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { versionAt } from '../version.js'

// Adds a provider as an operator would: one more file in the folder of a copy of the checkout. `providers` has, by their names,
// files of this folder.
export async function withProviders({ folder }, copy, providers) {
  for (const part of ['src', 'bin', 'build.js', 'package.json'])
    cpSync(join(folder, part), join(copy, part), { recursive: true })
  symlinkSync(join(folder, 'node_modules'), join(copy, 'node_modules'))
  for (const [name, file] of Object.entries(providers))
    copyFileSync(fileURLToPath(new URL(file, import.meta.url)), join(copy, 'src/providers', `${name}.js`))
  const version = versionAt(copy)
  await version.build()
  return version
}
