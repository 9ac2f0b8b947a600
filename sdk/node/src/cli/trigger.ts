import { randomBytes } from 'node:crypto'
import { RefusedError } from '../errors.ts'
import { type Command, CommandError, textOption, usageError } from './command.ts'
import { loadCredentials } from './credentials.ts'
import { paint, printable } from './output.ts'
import { mustBeTestKey, signedCall } from './signedCall.ts'

const outcomes: Record<string, string> = {
  paid: 'the customer pays',
  failed: 'the provider refuses',
  declined: 'the customer declines on the phone',
  no_money: 'the wallet has not enough money',
  no_answer: 'nobody answers the prompt',
  cancelled: 'the customer cancels on the page',
  expired: 'nobody pays in time',
  late: 'paid after it had expired',
  wrong_amount: 'the provider reports another amount: it is never paid',
  paid_twice: 'paid twice: one payment, and a task for the operator',
}

// The outcome itself is checked above, so the gateway refuses it only if nothing can pay.
function explainRefusal(error: unknown): never {
  if (!(error instanceof RefusedError)) throw error
  if (error.field === 'outcome')
    throw new CommandError(
      `${error.code}: this gateway has no simulated provider for your test payments. Its operator turns it on by ` +
        'TOLLGATE_SANDBOX.',
    )
  if (error.httpStatus === 409)
    throw new CommandError(
      `${error.code}: this invoice_id has a payment with other details. Leave them out to use that payment, or choose ` +
        'another --invoice-id.',
    )
  throw error
}

export const trigger: Command = {
  usage: 'trigger OUTCOME [--invoice-id ID] [--total AMOUNT] [...]',
  summary:
    'Make a test payment, or take an existing one, and bring it to an outcome. Your endpoint is notified as usual.',
  details: `Outcomes:\n${Object.entries(outcomes)
    .map(([name, meaning]) => `  ${name.replace('_', '-').padEnd(14)}${meaning}`)
    .join('\n')}`,
  options: {
    'invoice-id': { type: 'string', value: 'ID', help: 'of an existing test payment, or of the new one' },
    total: { type: 'string', value: 'AMOUNT', help: 'of a new payment; by default 25.00' },
    currency: { type: 'string', value: 'CODE', help: 'of a new payment; by default GHS' },
    'ipn-url': {
      type: 'string',
      value: 'URL',
      help: 'where a new payment is notified, instead of your setting',
    },
    email: { type: 'string', value: 'ADDRESS', help: 'of the customer, for the receipt' },
    number: { type: 'string', value: 'PHONE', help: 'of the customer, for the receipt' },
    json: { type: 'boolean', help: 'print the answer of the gateway as JSON' },
  },
  examples: ['trigger paid', 'trigger late --total 10.50', 'trigger failed --invoice-id AMA-1042'],
  async run(input) {
    const { io, positionals, values } = input
    const outcome = (positionals[0] ?? '').replaceAll('-', '_')
    if (!Object.hasOwn(outcomes, outcome) || positionals.length > 1)
      throw usageError(
        `${positionals[0] ? `There is no outcome ${positionals[0]}` : 'The outcome is missing'}. Use one of ` +
          `${Object.keys(outcomes).join(', ').replaceAll('_', '-')}.`,
      )
    const credentials = await loadCredentials(io.env)
    mustBeTestKey(credentials, 'trigger')
    const text = (name: string) => textOption(input, name)
    const answer = await signedCall(credentials, {
      method: 'POST',
      path: '/v1/test/triggers',
      fields: {
        outcome,
        // With an id of its own, a repeated request is the same payment.
        invoice_id: text('invoice-id') ?? `TRIGGER-${randomBytes(5).toString('hex')}`,
        total: text('total'),
        currency: text('currency'),
        ipn_url: text('ipn-url'),
        email: text('email'),
        number: text('number'),
      },
      isRepeatable: true,
      what: 'triggers',
    }).catch(explainRefusal)
    if (values.json) io.out(JSON.stringify(answer))
    else for (const line of resultLines(answer)) io.out(line)
    return 0

    function resultLines({
      invoice_id,
      tx_reference,
      status,
      checkout_url,
      message,
    }: Record<string, unknown>) {
      const rows = { Invoice: invoice_id, Reference: tx_reference, Status: status, Page: checkout_url }
      return [
        ...(typeof message === 'string' ? [printable(message)] : []),
        ...Object.entries(rows)
          .filter(([, value]) => typeof value === 'string')
          .map(([name, value]) => `${paint(io, 'dim', name.padEnd(10))}${printable(String(value))}`),
      ]
    }
  },
}
