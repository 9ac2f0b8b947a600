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
    // Not repeated: a second request would advance the clock again.
    const answer = await signedCall(credentials, {
      method: 'POST',
      path: '/v1/test/clock',
      fields: { advance },
      isRepeatable: false,
      what: 'test clock',
    })
    if (values.json) {
      io.out(JSON.stringify(answer))
      return 0
    }
    const counts = Object.entries(countsOf(answer)).filter(([, count]) => count > 0)
    io.out(`The clock of your test payments is ${advance} further.`)
    for (const [kind, count] of counts) io.out(`${String(count).padStart(6)}  ${kind.replaceAll('_', ' ')}`)
    if (counts.length === 0) io.out('Nothing waited for a time.')
    return 0
  },
}

// The counts by kind, in an object of their own or beside the other keys.
function countsOf(answer: Record<string, unknown>): Record<string, number> {
  const nested = Object.values(answer).find(value => typeof value === 'object' && value !== null)
  const entries = Object.entries((nested ?? answer) as Record<string, unknown>)
  return Object.fromEntries(
    entries.filter(
      (entry): entry is [string, number] => typeof entry[1] === 'number' && entry[0] !== 'status_code',
    ),
  )
}
