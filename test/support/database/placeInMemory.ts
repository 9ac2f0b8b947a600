import { accessSync, constants, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

// The folder for the files of a test server. A memory file system is fast, and all settings stay as a gateway requires them.
export function placeInMemory(): string {
  try {
    accessSync('/dev/shm', constants.W_OK)
    const { bavail, bsize } = statfsSync('/dev/shm')
    return bavail * bsize > enough ? '/dev/shm' : tmpdir()
  } catch {
    return tmpdir()
  }
}

const enough = 2 * 2 ** 30 // bytes; containers often have 64 MB there
