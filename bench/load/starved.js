// A round that failed because the machine had no time for it, not because the program is wrong. It is repeated.
export class Starved extends Error {}

// A gateway answers 503 when its database did not answer in time. Errors cross from one process to another as text.
/** @type {(message: string) => Error} */
export const errorOf = message =>
  message.startsWith('The gateway answered: HTTP/1.1 503 ') ? new Starved(message) : new Error(message)
