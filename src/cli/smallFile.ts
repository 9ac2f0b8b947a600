import { readFile, stat } from 'node:fs/promises'
import { notFound, refused } from './failure.ts'

// Refuses pipes and devices, which may never end.
export async function readSmallFile(path: string, maxBytes: number): Promise<Buffer> {
  const file = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? notFound(`There is no file ${path}.`) : error
  })
  if (!file.isFile()) throw refused(`${path} is not a file.`)
  if (file.size > maxBytes)
    throw refused(`${path} has ${Math.ceil(file.size / 1024)} kB; at most ${maxBytes / 1024} kB are read.`)
  return readFile(path)
}
