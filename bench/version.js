// A checkout of Tollgate, this one or another: its program, and the modules that it is made of, by their names of today.
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** @type {(folder: string) => import('./modules.ts').Version} */
export const versionAt = folder => {
  const file = path => pathToFileURL(join(folder, path)).href
  return {
    folder,
    program: join(folder, 'bin/tollgate.js'),
    build: async () => (await import(file('build.js'))).build(),
    load: (...names) =>
      /** @type {any} */ (Promise.all(names.map(name => loadOne(join(folder, 'dist'), name)))),
  }
}

const loadOne = (dist, name) => import(pathToFileURL(join(dist, `${name}.js`)).href)

export const thisVersion = versionAt(fileURLToPath(new URL('..', import.meta.url)))

// The one to measure beside this one; refused with a sentence when there is none.
export function otherVersion(given) {
  const folder = resolve(given)
  if (nameOf(folder) !== 'tollgate' || !['build.js', 'bin/tollgate.js', 'src'].every(isIn(folder)))
    throw new NoVersion(`--beside wants the folder of another checkout of Tollgate; ${folder} is none.`)
  if (!isIn(folder)('node_modules'))
    throw new NoVersion(`The checkout at ${folder} has no packages yet: run npm ci there.`)
  return versionAt(folder)
}

export class NoVersion extends Error {}

const isIn = folder => path => existsSync(join(folder, path))

function nameOf(folder) {
  try {
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).name
  } catch {
    return undefined
  }
}
