import { statfsSync } from 'node:fs'

// A failure of the private PostgreSQL. The message is one sentence, with what to do.
export class EmbeddedError extends Error {
  override name = 'EmbeddedError'
}

const fullBelowBytes = 1_000_000

const remedies: [RegExp, (place: string, text: string) => string][] = [
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
      `The PostgreSQL that comes with Tollgate cannot run here (${text}), it needs Linux with glibc or macOS, on x64 or ` +
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
      'There is not enough memory to start PostgreSQL, which needs about 400 MB: free some and start again.',
  ],
]

export function explain(error: unknown, place: string): EmbeddedError {
  if (error instanceof EmbeddedError) return error
  // On a full disk the reason may not have been written to the log.
  const text = isFull(place) ? 'ENOSPC' : error instanceof Error ? error.message : String(error)
  const remedy = remedies.find(([pattern]) => pattern.test(text))?.[1](place, text)
  return new EmbeddedError(
    remedy ?? `PostgreSQL could not start in ${place}: ${text} (see ${place}/postgres.log).`,
    { cause: error },
  )
}

function isFull(place: string): boolean {
  try {
    const { blocks, bavail, bsize } = statfsSync(place)
    return blocks > 0 && bavail * bsize < fullBelowBytes
  } catch {
    return false // it does not exist
  }
}

export const capitalized = (text: string) => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`

export const codeOf = (error: unknown) =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
