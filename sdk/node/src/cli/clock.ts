import { type Command, usageError } from './command.ts'
import { loadCredentials } from './credentials.ts'
import { mustBeTestKey, signedCall } from './signedCall.ts'

export const clock: Command = {
  usage: 'clock advance DURATION',
  summary: 'Let time pass for your test payments: what is due within that time happens now.',
  details:
    'Expiry, polls, repeated notifications and messages of your test payments become due. Live payments never change.\n' +
    'A duration is 90s, 15m, 24h or 3d, at most 30d.',
  options: { json: { type: 'boolean', help: 'print the answer of the gateway as JSON' } },
  examples: ['clock advance 24h', 'clock advance 15m'],
  async run({ io, positionals, values }) {
    const [verb, advance = ''] = positionals
    if (verb !== 'advance' || !/^[1-9]\d{0,6}[smhd]$/.test(advance) || positionals.length > 2)
      throw usageError('Use: clock advance DURATION, with a duration such as 90s, 15m, 24h or 3d.')
    const credentials = await loadCredentials(io.env)
    mustBeTestKey(credentials, 'clock')
    const counts = new Map<string, number>()
    let answer: Record<string, unknown> = {}
    // A gateway advances many payments in several steps, each behind the last one.
    for (
      let after: string | undefined, isMore = true;
      isMore;
      isMore = answer.more === true && after !== undefined
    ) {
      // Not repeated: a second request would advance the clock again.
      answer = await signedCall(credentials, {
        method: 'POST',
        path: '/v1/test/clock',
        fields: { advance, after },
        isRepeatable: false,
        what: 'test clock',
      })
      after = typeof answer.next === 'string' ? answer.next : undefined
      for (const [kind, count] of Object.entries(countsOf(answer)))
        counts.set(kind, (counts.get(kind) ?? 0) + count)
    }
    if (values.json) {
      io.out(JSON.stringify(answer))
      return 0
    }
    io.out(`The clock of your test payments is ${advance} further.`)
    const moved = [...counts].filter(([, count]) => count > 0)
    for (const [kind, count] of moved) io.out(`${String(count).padStart(6)}  ${kind.replaceAll('_', ' ')}`)
    if (moved.length === 0) io.out('Nothing waited for a time.')
    return 0
  },
}

// The counts of what has become due, by kind.
const countsOf = ({ moved }: Record<string, unknown>): Record<string, number> =>
  typeof moved === 'object' && moved !== null ? (moved as Record<string, number>) : {}
