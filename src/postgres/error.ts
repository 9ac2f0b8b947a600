import { statfsSync } from 'node:fs'

// What went wrong with the private PostgreSQL, in one sentence that names the cure.
export class EmbeddedError extends Error {
  override name = 'EmbeddedError'
}

const fullBelowBytes = 1_000_000

const cures: [RegExp, (place: string, text: string) => string][] = [
  [
    /ENOSPC|EDQUOT|No space left|quota exceeded/i,
    place => `The disk that holds ${place} is full: free some space and start again.`,
  ],
  [
    /ENOTDIR|EEXIST|Not a directory/,
    place => `${place} is not a folder: move it away, or choose another TOLLGATE_DATA_DIR.`,
  ],
  [
    /exec: .*(not found|Permission denied)|Exec format error|loading shared libraries/i,
    (_, text) =>
      `The PostgreSQL that comes with Tollgate cannot run here (${text}), it needs Linux with glibc on x64 or ` +
      'arm64: set DATABASE_URL to a PostgreSQL 15 or later instead.',
  ],
  [
    /EACCES|EPERM|EROFS|Permission denied|not permitted|Read-only file system/i,
    (place, text) =>
      `Tollgate may not write to ${place} (${text}): ` +
      'give it to the user who runs Tollgate, or choose another TOLLGATE_DATA_DIR.',
  ],
  [
    /ENOMEM|Cannot allocate memory/i,
    () =>
      'There is not enough memory to start PostgreSQL, which wants about 400 MB: free some and start again.',
  ],
]

export function explain(error: unknown, place: string): EmbeddedError {
  if (error instanceof EmbeddedError) return error
  // On a full disk even the reason cannot be written down, so that is looked at too.
  const text = isFull(place) ? 'ENOSPC' : error instanceof Error ? error.message : String(error)
  const cure = cures.find(([sign]) => sign.test(text))?.[1](place, text)
  return new EmbeddedError(
    cure ?? `PostgreSQL could not start in ${place}: ${text} (${place}/postgres.log may tell more).`,
    { cause: error },
  )
}

function isFull(place: string): boolean {
  try {
    const { blocks, bavail, bsize } = statfsSync(place)
    return blocks > 0 && bavail * bsize < fullBelowBytes
  } catch {
    return false // there is no such place
  }
}

export const codeOf = (error: unknown) =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
