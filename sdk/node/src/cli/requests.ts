import { type Command, textOption } from './command.ts'
import { loadCredentials } from './credentials.ts'
import { cell, indent, paint, printable } from './output.ts'
import { signedCall } from './signedCall.ts'

export const requests: Command = {
  usage: 'requests [--limit N] [--after CURSOR] [--json]',
  summary: 'Show your last refused requests, the newest first, with the reason of each.',
  details:
    'Accepted requests are payments and status checks, so only refused ones are kept. Personal data is removed.',
  options: {
    limit: { type: 'string', value: 'N', help: 'how many; by default 20' },
    after: { type: 'string', value: 'CURSOR', help: 'continue an earlier list' },
    json: { type: 'boolean', help: 'print the answer of the gateway as JSON' },
  },
  examples: ['requests', 'requests --limit 5'],
  async run(input) {
    const { io, values } = input
    const credentials = await loadCredentials(io.env)
    const limit = textOption(input, 'limit') ?? '20'
    const answer = await signedCall(credentials, {
      method: 'GET',
      path: '/v1/requests',
      fields: { limit, after: textOption(input, 'after') },
      isRepeatable: true,
      what: 'request log',
    })
    const refused = Array.isArray(answer.requests) ? (answer.requests as Refused[]) : []
    if (values.json) io.out(JSON.stringify(answer))
    else if (refused.length === 0) io.out('No request was refused.')
    else {
      for (const request of refused) io.out(linesOf(request))
      if (typeof answer.next === 'string' && answer.next)
        io.error(`Older ones: requests --limit ${limit} --after ${printable(answer.next)}`)
    }
    return 0

    function linesOf({ time, method, path, http, code, message, hint, request_id }: Refused) {
      const head = [
        paint(io, 'dim', printable(String(time)).padEnd(24)),
        cell(io, String(http), 3, 'red'),
        printable(String(code)).padEnd(6),
        `${printable(String(method)).padEnd(4)} ${printable(String(path))}`,
        paint(io, 'dim', printable(String(request_id))),
      ].join('  ')
      return [head, ...[message, ...hintsOf(hint)].map(text => indent(printable(text), 4))].join('\n')
    }
  },
}

type Refused = Record<'time' | 'method' | 'path' | 'http' | 'code' | 'request_id', unknown> & {
  message: string
  hint?: unknown
}

function hintsOf(hint: unknown): string[] {
  if (typeof hint === 'string') return [hint]
  if (typeof hint !== 'object' || hint === null) return []
  return Object.entries(hint).map(([name, value]) => `${name.replaceAll('_', ' ')}: ${String(value)}`)
}
