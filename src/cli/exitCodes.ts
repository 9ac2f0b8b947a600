// How a command ended, for scripts. Those from 64 up are the numbers of sysexits.h.
export const exitCodes = {
  done: 0,
  refused: 1,
  usage: 2,
  unavailable: 69,
  bug: 70,
  settings: 78,
  forced: 130,
} as const

export const exitCodeWords: [number, string][] = [
  [exitCodes.done, 'done'],
  [
    exitCodes.refused,
    'refused or not found; for doctor: something failed; for provider status: an account is down',
  ],
  [exitCodes.usage, 'wrong usage'],
  [exitCodes.unavailable, 'the database, the data folder or the port cannot be used'],
  [exitCodes.bug, 'a bug in Tollgate'],
  [exitCodes.settings, 'a setting or the master key is wrong'],
  [exitCodes.forced, 'stopped at once by a second Ctrl-C'],
]
