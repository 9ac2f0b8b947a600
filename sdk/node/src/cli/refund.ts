import { randomBytes } from 'node:crypto'
import { createTollgate } from '../client.ts'
import { OutcomeUnknownError } from '../errors.ts'
import type { RefundRecord } from '../refund.ts'
import { sleep } from '../transport.ts'
import { type Command, CommandError, textOption, usageError } from './command.ts'
import { loadCredentials } from './credentials.ts'
import { paint, printable } from './output.ts'
import { mustBeTestKey } from './signedCall.ts'

const pollMs = 500
const waitMs = 10_000

export const refund: Command = {
  usage: 'refund INVOICE AMOUNT [--refund-id ID] [--reason TEXT] [--json]',
  summary: 'Refund a paid test payment, or a part of it, and show what becomes of the refund.',
  details:
    'It waits up to 10 seconds until the refund has ended. The same --refund-id with the same values is the same refund.\n' +
    'docs/sandbox.md of the gateway lists the amounts that make a refund fail, wait or need an operator.',
  options: {
    'refund-id': { type: 'string', value: 'ID', help: 'your id of the refund; by default a new one' },
    reason: { type: 'string', value: 'TEXT', help: 'for your own records' },
    json: { type: 'boolean', help: 'print the refund as JSON' },
  },
  examples: ['refund AMA-1042 10.00', "refund AMA-1042 25.00 --refund-id R-1 --reason 'Returned'"],
  async run(input) {
    const { io, positionals, values } = input
    const [invoiceId, amount] = positionals
    if (!invoiceId || !amount || positionals.length > 2)
      throw usageError(`Name the invoice and the amount, as in: ${refund.usage}`)
    const credentials = await loadCredentials(io.env)
    mustBeTestKey(credentials, 'refund')
    const tollgate = createTollgate(credentials)
    const refundId = textOption(input, 'refund-id') ?? `REFUND-${randomBytes(5).toString('hex')}`
    const reason = textOption(input, 'reason')
    const options = { signal: io.signal }
    let record = await tollgate.refund({ refundId, invoiceId, amount, reason }, options).catch(error => {
      if (!(error instanceof OutcomeUnknownError)) throw error
      throw new CommandError(`${error.message}\nTo send it again: add --refund-id ${refundId}`)
    })
    for (let waited = 0; isUnderWay(record) && waited < waitMs; waited += pollMs) {
      await sleep(pollMs, io.signal)
      record = await tollgate.refundStatus({ refundId }, options)
    }
    if (values.json) io.out(JSON.stringify(record.raw))
    else for (const line of linesOf(record)) io.out(line)
    return record.state === 'failed' ? 1 : 0

    function linesOf({ state, stateReason, reference, currency, amount: refunded }: RefundRecord) {
      const rows = {
        Refund: refundId,
        Reference: reference,
        Amount: `${currency} ${refunded}`,
        State: paint(io, state === 'succeeded' ? 'green' : state === 'failed' ? 'red' : 'yellow', state),
        ...(stateReason && { Why: printable(stateReason) }),
      }
      return Object.entries(rows).map(([name, value]) => `${paint(io, 'dim', name.padEnd(10))}${value}`)
    }
  },
}

const isUnderWay = ({ state }: RefundRecord) => ['requested', 'pending', 'unknown'].includes(state)
