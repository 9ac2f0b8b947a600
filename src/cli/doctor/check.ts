// One thing that doctor looked at: the fact and, where it is not fine, what to do.
export type State = 'ok' | 'warning' | 'failed'
export type Check = { check: string; state: State; fact: string; todo?: string }

export const fine = (check: string, fact: string): Check => ({ check, state: 'ok', fact })
export const warning = (check: string, fact: string, todo: string): Check => ({
  check,
  state: 'warning',
  fact,
  todo,
})
export const failed = (check: string, fact: string, todo?: string): Check => ({
  check,
  state: 'failed',
  fact,
  todo,
})

export const megabyte = 1_000_000
export const gigabyte = 1_000_000_000

export const size = (bytes: number) =>
  bytes < gigabyte ? `${Math.floor(bytes / megabyte)} MB` : `${(bytes / gigabyte).toFixed(1)} GB`
