import { expect, test } from 'vitest'
import { maskedSample } from '../../../src/core/provider/unknownCode.ts'

for (const [code, sample] of [
  ['COULD_NOT_PERFORM_TRANSACTION', 'COULD_NOT_PERFORM_TRANSACTION'],
  ['payerLimitReached', 'payerLimitReached'],
  ['WALLET_TIER_7_NOT_ELIGIBLE', 'WALLET_TIER_#_NOT_ELIGIBLE'],
  ['KEY_8F14E45FCEEA167A', '***'],
  ['status 4999', 'status #'],
  ['500.001.1001', '#.#.#'],
  ['payer 233244123456 has no wallet', 'payer # has no wallet'],
  ['call +233 24 412 3456 now', 'call +# # # # now'],
  ['mail ama@shop.example', 'mail ***'],
  ['Bearer abcdefghijk', 'Bearer ***'],
  ['key: hunter', 'key: ***'],
  ['sk_live_abcdefghijk', '***'],
  ['token=eyJhbGciOiJIUzI1NiJ9.e30.x', 'token=***'],
  ['seen 8f14e45fceea167a5a36', 'seen ***'],
  ['line\u0000one\nline two', 'line one line two'],
  ['x'.repeat(100), 'x'.repeat(60)],
] as const)
  test(`${JSON.stringify(code)} is shown as ${sample}`, () => expect(maskedSample(code)).toBe(sample))
