// A database of another kind than the one in the tests, for as long as the program runs that started it.
export type Cluster = {
  url: string // of a role that may create databases and roles
  what: string
  env?: Record<string, string> // for programs that use it
  ended: Promise<string> // why, if it ends before stop()
  stop(): Promise<void>
}

export type Report = (text: string) => void
export type Kind = { about: string; start(report: Report): Promise<Cluster> }

// Whatever a kind needs is not on this machine and cannot be fetched.
export class UnavailableError extends Error {}
