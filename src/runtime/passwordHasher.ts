import { hash, verify } from '@node-rs/argon2'
import { tooManyRequests } from '../core/interface/refusal.ts'

const maxAtOnce = 2 // the thread pool of the process also resolves names and reads files

// argon2id with 19 MiB and two passes. The options are written into each hash.
const options = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

// The hash of a random password that nobody knows. An unknown address is compared with it, so that it takes the same time.
export const dummyHash =
  '$argon2id$v=19$m=19456,t=2,p=1$qh89sDcpnN1KUPD16YiM8Q$l6Et5i4ZeCvgXHExz/flIZY4FtDnUoDIkUYGsBINF+U'

// Hashes and compares passwords. It refuses with 429 instead of queueing, because a flood of sign-ins must not delay others.
export type PasswordHasher = {
  hash(password: string): Promise<string>
  matches(stored: string | null | undefined, password: string): Promise<boolean>
  count(): number // of all hashes so far, for tests and metrics
}

export function createPasswordHasher(): PasswordHasher {
  let running = 0
  let count = 0
  async function limited<T>(work: () => Promise<T>): Promise<T> {
    if (running >= maxAtOnce) throw tooManyRequests(1)
    running++
    count++
    try {
      return await work()
    } finally {
      running--
    }
  }
  return {
    hash: password => limited(() => hash(password, options)),
    matches: async (stored, password) =>
      (await limited(() => verify(stored ?? dummyHash, password))) && Boolean(stored),
    count: () => count,
  }
}
