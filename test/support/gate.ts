import { channelsOf } from '../../src/runtime/channels.ts'
import { createGate, type Gate, type GateOptions } from '../../src/runtime/runtime.ts'

// What the verbs need, without a server around it; what a test does not care about is filled in.
export function testGate(options: Pick<GateOptions, 'db' | 'masterKeys'> & Partial<GateOptions>): Gate {
  return createGate({
    batchRows: 256,
    poolSize: 10,
    channels: channelsOf(new Map()),
    baseUrl: () => 'http://pay.example',
    clock: () => new Date(),
    watch: () => {},
    wake: () => {},
    observeBatch: () => {},
    ...options,
  })
}
