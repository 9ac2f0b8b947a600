import { audited } from '../../actions/access/audit.ts'
import { requestEntry } from '../../core/access/auditEntries.ts'
import { initiate } from '../../actions/interface/initiate.ts'
import { findRequestSigner, signRequest } from '../../actions/merchants/onboard.ts'
import { Refusal, Unavailable } from '../../core/interface/refusal.ts'
import type { Mode } from '../../core/mode.ts'
import { figureIn } from '../../core/money.ts'
import { moneyText } from '../../core/timeline/history.ts'
import { newInvoiceId } from '../../runtime/ids.ts'
import { checkoutUrl } from '../../web/api/initiate.tsx'
import { baseUrlOf } from '../baseUrl.ts'
import { commandRuntime } from '../commandRuntime.ts'
import { type CommandContext, requireMerchant } from '../database.ts'
import { refused } from '../failure.ts'
import { requireOriginalDatabase } from '../originalDatabase.ts'
import type { CliCommand } from '../cliCommand.ts'
import type { Output } from '../output.ts'
import { requirePayment } from '../paymentText.ts'
import { openAccounts } from '../provider/accountSetup.ts'
import { facts, paint, paragraphs } from '../terminal.ts'
import { modeOption } from '../values.ts'

type Options = {
  merchant: string
  mode: Mode
  total: string
  currency?: string
  invoiceId?: string
  description?: string
  number?: string
  email?: string
}

export function addPaymentRequest(payment: CliCommand) {
  payment
    .command('request')
    .description(
      "Request a payment as the merchant's server does: signed with the stored key, validated by the same rules and " +
        'stored. Prints the address of the checkout page.',
    )
    .requiredOption('--merchant <id>', 'the merchant')
    .requiredOption('--total <amount>', 'the amount, such as 1.00')
    .addOption(modeOption('the mode of the key that signs; live means real money').default('test'))
    .option('--currency <code>', 'one of the merchant’s currencies (default: GHS)')
    .option(
      '--invoice-id <id>',
      'repeating a request with the same id finds the same payment (default: a new id)',
    )
    .option('--description <text>', 'shown to the customer')
    .option('--number <phone>', 'the customer’s phone number')
    .option('--email <address>', 'the customer’s email address')
    .examples(
      'tollgate payment request --merchant 7c2k9m0x4f --total 25.00',
      "tollgate payment request --merchant 7c2k9m0x4f --total 1.00 --mode live --description 'First payment'",
    )
    .runWithMasterKeys(request)
}

async function request(context: CommandContext, options: Options): Promise<Output> {
  if (options.mode === 'live') await requireOriginalDatabase(context)
  const { db, masterKeys, clock } = context
  const { merchant_id } = await requireMerchant(db, options.merchant)
  const signer = await findRequestSigner(db, masterKeys, merchant_id, options.mode, clock())
  if (!signer)
    throw refused(
      `Merchant ${merchant_id} has no ${options.mode} key: tollgate key rotate --merchant ${merchant_id} --mode ${options.mode} makes one.`,
    )
  const { invoiceId: invoice_id = newInvoiceId(), total, currency, description, number, email } = options
  const contact = { description, number, email }
  const fields = signRequest(signer, { invoice_id, total, currency, ...contact, generate_checkout_url: true })
  const providerAccounts = await openAccounts(context)
  const { stored } = await initiate(
    commandRuntime(context, providerAccounts),
    fields,
    'api',
    'command',
  ).catch(asCommandError)
  const { actor } = context
  await audited(db, actor, clock(), (_, record) =>
    record(requestEntry(merchant_id, stored.tx_reference, stored.mode)),
  )
  const payment = await requirePayment(db, stored.tx_reference, merchant_id)
  const methods = providerAccounts
    .availableMethods({ ...payment, settings: signer.settings })
    .map(({ payment_method }) => payment_method)
  const url = checkoutUrl(baseUrlOf(context.config), stored.tx_token)
  return {
    data: {
      tx_reference: stored.tx_reference,
      merchant_id,
      mode: stored.mode,
      invoice_id,
      status: payment.status,
      total: figureIn(payment.total, payment.currency),
      currency: payment.currency,
      payment_methods: methods,
      checkout_url: url,
    },
    text: paragraphs(
      payment.mode === 'live'
        ? 'The payment is stored. It is live: paying it moves real money.'
        : 'The payment is stored. It is a test: no real money moves.',
      facts([
        ['reference', stored.tx_reference],
        ['invoice id', invoice_id],
        ['status', payment.status],
        ['total', moneyText(payment.currency, payment.total)],
        ['methods', methods.join(', ') || 'none'],
        ['checkout', url],
      ]),
      methods.length === 0 && paint('yellow', noAccountText(options.mode)),
    ),
  }
}

const noAccountText = (mode: Mode) =>
  `No account of ${mode} mode serves this payment, so its page offers no payment method: see tollgate provider list and tollgate doctor.`

// Reports the text of the API. An unavailable database is reported as by every other command.
function asCommandError(error: unknown): never {
  if (!(error instanceof Refusal) || error instanceof Unavailable) throw error
  throw refused(`The payment was not stored: ${error.message}`, {
    data: { refusal: { code: error.code, field: error.field } },
  })
}
