import { UnavailableError } from '../errors.ts'
import { type Command, CommandError, textOption, usageError } from './command.ts'
import { type Credentials, loadCredentials } from './credentials.ts'
import { explain, isUnreachable } from './explain.ts'
import { printable } from './output.ts'
import { mustBeTestKey, signedCall } from './signedCall.ts'

export const clock: Command = {
  usage: 'clock advance DURATION [--after CURSOR] [--json]',
  summary: 'Let time pass for your test payments: what is due within that time happens now.',
  details:
    'Expiry, polls, repeated notifications and messages of your test payments become due. Live payments never change.\n' +
    'A duration is 90s, 15m, 24h or 3d, at most 30d.',
  options: {
    after: { type: 'string', value: 'CURSOR', help: 'continue a command that was interrupted' },
    json: { type: 'boolean', help: 'print the result as JSON' },
  },
  examples: ['clock advance 24h', 'clock advance 15m'],
  async run(input) {
    const { io, positionals, values } = input
    const [verb, advance = ''] = positionals
    if (verb !== 'advance' || !/^[1-9]\d{0,6}[smhd]$/.test(advance) || positionals.length > 2)
      throw usageError('Use: clock advance DURATION, with a duration such as 90s, 15m, 24h or 3d.')
    const credentials = await loadCredentials(io.env)
    mustBeTestKey(credentials, 'clock')
    const { moved, in_flight } = await advanceAll(credentials, advance, textOption(input, 'after'))
    if (values.json) {
      io.out(JSON.stringify({ advance, moved, in_flight }))
      return 0
    }
    io.out(`The clock of your test payments is ${advance} further.`)
    const kinds = Object.entries(moved).filter(([, count]) => count > 0)
    for (const [kind, count] of kinds)
      io.out(`${String(count).padStart(6)}  ${printable(kind.replaceAll('_', ' '))}`)
    if (kinds.length === 0 && in_flight === 0) io.out('Nothing was waiting for a time.')
    if (in_flight > 0)
      io.out(
        `${String(in_flight).padStart(6)}  not moved, because their provider is being called; wait, and repeat the command`,
      )
    return 0
  },
}

type Total = { moved: Record<string, number>; in_flight: number }

// The gateway moves many payments in several steps, each behind the last one.
async function advanceAll(credentials: Credentials, advance: string, start?: string): Promise<Total> {
  const total: Total = { moved: {}, in_flight: 0 }
  for (let after = start; ; ) {
    const { moved, in_flight, more, next } = await step(credentials, advance, after)
    for (const [kind, count] of Object.entries(Object(moved) as Record<string, number>))
      total.moved[kind] = (total.moved[kind] ?? 0) + count
    total.in_flight += Number(in_flight ?? 0)
    if (more !== true || typeof next !== 'string') return total
    after = next
  }
}

// Not repeated: a second request would advance the clock again.
async function step(credentials: Credentials, advance: string, after: string | undefined) {
  try {
    return await signedCall(credentials, {
      method: 'POST',
      path: '/v1/test/clock',
      fields: { advance, after },
      isRepeatable: false,
      what: 'test clock',
    })
  } catch (error) {
    if (!(error instanceof UnavailableError) || error.code === 'aborted') throw error
    const isSent = !isUnreachable(error.cause)
    if (!isSent && after === undefined) throw error
    const sentences = [
      explain(error),
      isSent ? 'The payments of this step may have moved or not.' : '',
      after === undefined
        ? ''
        : `The others up to ${after} have. To continue: clock advance ${advance} --after '${after}'`,
    ]
    throw new CommandError(printable(sentences.filter(Boolean).join(' ')))
  }
}
