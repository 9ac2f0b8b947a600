// A checkout that has lines to simulated providers.
import { copyFileSync, cpSync, existsSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { versionAt } from '../version.js'

// Adds a provider as an operator would: one more file in the folder of a copy of the checkout. `providers` has, by their names,
// files of this folder.
export async function withProviders({ folder }, copy, providers) {
  for (const part of partsOf(folder)) cpSync(join(folder, part), join(copy, part), { recursive: true })
  symlinkSync(join(folder, 'node_modules'), join(copy, 'node_modules'))
  for (const [name, file] of Object.entries(providers))
    copyFileSync(fileURLToPath(new URL(file, import.meta.url)), join(copy, 'src/providers', `${name}.js`))
  const version = versionAt(copy)
  await version.build()
  return { ...version, copyOf: folder } // with the same migrations
}

// What an installed Tollgate has, before it is built.
function partsOf(folder) {
  const { files } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const parts = ['package.json', 'README.md', 'LICENSE', ...files.filter(part => part !== 'dist')]
  return parts.filter(part => existsSync(join(folder, part)))
}
