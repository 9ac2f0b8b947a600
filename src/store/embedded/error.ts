// What went wrong with the private PostgreSQL, in one sentence that names the cure.
export class EmbeddedError extends Error {
  override name = 'EmbeddedError'
}

const cures: [RegExp, (place: string) => string][] = [
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
    () =>
      'The PostgreSQL that comes with Tollgate cannot run here (it needs Linux with glibc, on x64 or arm64, ' +
      'and folders that allow programs): set DATABASE_URL to a PostgreSQL 15 or later instead.',
  ],
  [
    /EACCES|EPERM|EROFS|Permission denied|not permitted|Read-only file system/i,
    place =>
      `Tollgate may not write to ${place}: give it to the user who runs Tollgate, ` +
      'or choose another TOLLGATE_DATA_DIR.',
  ],
  [
    /ENOMEM|Cannot allocate memory/i,
    () =>
      'There is not enough memory to start PostgreSQL, which wants about 400 MB: free some and start again.',
  ],
]

export function explain(error: unknown, place: string): EmbeddedError {
  if (error instanceof EmbeddedError) return error
  const text = error instanceof Error ? error.message : String(error)
  const cure = cures.find(([sign]) => sign.test(text))?.[1](place)
  return new EmbeddedError(cure ?? `PostgreSQL could not start in ${place}: ${text}`, { cause: error })
}

export const codeOf = (error: unknown) =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
