// A backup cannot be made, read or restored as asked for. The message says why and what to do.
export class BackupFault extends Error {}

export const damaged = (why: string, cause?: unknown) =>
  new BackupFault(`The backup is damaged (${why}): nothing of it was used. Take another one.`, { cause })
