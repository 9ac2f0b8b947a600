import { createRateLimits } from '../../src/runtime/rateLimits.ts'
import type { OperatorDoor } from '../../src/web/http/operatorDoor.ts'

// The door of a gateway that nobody but this machine reaches.
export const testDoor = (token?: string, monotonicMs = () => performance.now()): OperatorDoor => ({
  name: 'support',
  token,
  isForThisMachineOnly: true,
  trustedProxies: 0,
  limits: createRateLimits(monotonicMs),
})
