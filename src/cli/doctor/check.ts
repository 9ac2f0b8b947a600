// One result of doctor: a fact and, unless it is fine, what to do.
export type State = 'ok' | 'warning' | 'failed'
export type Check = { check: string; state: State; fact: string; todo?: string }

export const checkOk = (check: string, fact: string): Check => ({ check, state: 'ok', fact })
export const checkWarning = (check: string, fact: string, todo: string): Check => ({
  check,
  state: 'warning',
  fact,
  todo,
})
export const checkFailed = (check: string, fact: string, todo?: string): Check => ({
  check,
  state: 'failed',
  fact,
  todo,
})

// Joins results. A check that does not apply has none.
export const allChecks = (...results: (Check | readonly Check[] | false | undefined)[]): Check[] =>
  results.flatMap(result => result || [])

const maxNamed = 5

export const firstFew = (names: readonly string[], separator = ', ') =>
  names.slice(0, maxNamed).join(separator) +
  (names.length > maxNamed ? ` and ${names.length - maxNamed} more` : '')
