import { mkdirSync, statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { codeOf, EmbeddedError } from '../error.ts'

// File systems that show the insides of the kernel: proc, sysfs and both kinds of cgroup.
const withoutFiles = new Set([0x9fa0, 0x62656572, 0x27e0eb, 0x63677270])

export const holdsFiles = (folder: string) => !withoutFiles.has(statfsSync(folder).type)

// Makes a folder and those above it. Node's own way never comes back where the system knows of no such place, as in
// /proc.
export function makeFolder(path: string, mode = 0o777) {
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    const code = codeOf(error)
    if (code === 'EEXIST' && statSync(path).isDirectory()) return
    const above = dirname(path)
    if (code !== 'ENOENT') throw error
    if (statSync(above, { throwIfNoEntry: false })) throw noPlace(path)
    makeFolder(above, mode)
    mkdirSync(path, { mode })
  }
}

export const noPlace = (path: string) =>
  new EmbeddedError(`No files can be kept in ${path}: choose another TOLLGATE_DATA_DIR.`)
