import { randomBytes } from 'node:crypto'
import type { Command } from 'commander'
import { initiate } from '../../actions/interface/initiate.ts'
import { findRequestSigner, signRequest } from '../../actions/merchants/signRequest.ts'
import { Refusal, Unavailable } from '../../core/interface/refusal.ts'
import type { Mode } from '../../core/mode.ts'
import { figureIn } from '../../core/money.ts'
import { moneyText } from '../../core/timeline/history.ts'
import { newInvoiceId } from '../../runtime/ids.ts'
import type { ProviderAccounts } from '../../runtime/providerAccounts.ts'
import { createRuntime } from '../../runtime/runtime.ts'
import { checkoutUrl } from '../../web/api/initiate.tsx'
import { merchantOf, type Opened, withMasterKeys } from '../database.ts'
import { CannotDo } from '../failure.ts'
import { examples } from '../help.ts'
import { onePayment } from '../onePayment.ts'
import type { Cli, Output } from '../output.ts'
import { openAll } from '../provider/accountSetup.ts'
import { baseUrlOf } from '../provider/baseUrl.ts'
import { facts, paint } from '../terminal.ts'
import { modeOption } from '../values.ts'

type Asked = {
  merchant: string
  mode: Mode
  total: string
  currency?: string
  invoiceId?: string
  description?: string
  number?: string
  email?: string
}

export function addPaymentRequest(payment: Command, cli: Cli) {
  payment
    .command('request')
    .description(
      "Request a payment as the merchant's own server would: signed with its stored key, checked by the same rules and " +
        'stored. Prints the address of the checkout page.',
    )
    .requiredOption('--merchant <id>', 'whose payment it is')
    .requiredOption('--total <amount>', 'what is due, such as 1.00')
    .addOption(modeOption('which of its keys signs; live is real money').default('test'))
    .option('--currency <code>', 'one of the merchant’s currencies; GHS without it')
    .option('--invoice-id <id>', 'the same request again finds the same payment; without it a new id is made')
    .option('--description <text>', 'what it is for; the customer sees it')
    .option('--number <phone>', 'the customer’s phone number')
    .option('--email <address>', 'the customer’s email address')
    .addHelpText(
      'after',
      examples(
        'tollgate payment request --merchant 7c2k9m0x4f --total 25.00',
        "tollgate payment request --merchant 7c2k9m0x4f --total 1.00 --mode live --description 'First payment'",
      ),
    )
    .action(async (asked: Asked) => cli.print(await withMasterKeys(opened => request(opened, asked))))
}

async function request(opened: Opened, asked: Asked): Promise<Output> {
  const { db, masterKeys, clock } = opened
  const { merchant_id } = await merchantOf(db, asked.merchant)
  const signer = await findRequestSigner(db, masterKeys, merchant_id, asked.mode, clock())
  if (!signer)
    throw new CannotDo(
      'refused',
      `Merchant ${merchant_id} has no ${asked.mode} key: tollgate key rotate --merchant ${merchant_id} --mode ${asked.mode} makes one.`,
    )
  const { invoiceId: invoice_id = newInvoiceId(), total, currency, description, number, email } = asked
  const contact = { description, number, email }
  const fields = signRequest(signer, { invoice_id, total, currency, ...contact, generate_checkout_url: true })
  const providerAccounts = await openAll(opened)
  const { stored } = await initiate(runtimeOf(opened, providerAccounts), fields, 'api', 'command').catch(
    asCannotDo,
  )
  const stands = await onePayment(db, stored.tx_reference, merchant_id)
  const methods = providerAccounts
    .availableMethods({ ...stands, settings: signer.settings })
    .map(({ payment_method }) => payment_method)
  const url = checkoutUrl(baseUrlOf(opened.config), stored.tx_token)
  return {
    data: {
      tx_reference: stored.tx_reference,
      merchant_id,
      mode: stored.mode,
      invoice_id,
      status: stands.status,
      total: figureIn(stands.total, stands.currency),
      currency: stands.currency,
      payment_methods: methods,
      checkout_url: url,
    },
    text: [
      stands.mode === 'live'
        ? 'The payment is stored. It is live: paying it moves real money.'
        : 'The payment is stored. It is a test: no real money moves.',
      facts([
        ['reference', stored.tx_reference],
        ['invoice id', invoice_id],
        ['status', stands.status],
        ['total', moneyText(stands.currency, stands.total)],
        ['methods', methods.join(', ') || 'none'],
        ['checkout', url],
      ]),
      ...(methods.length > 0 ? [] : [paint('yellow', nobodyServes(asked.mode))]),
    ].join('\n\n'),
  }
}

const nobodyServes = (mode: Mode) =>
  `No account of ${mode} mode serves this payment, so its page offers no way to pay: see tollgate provider list and tollgate doctor.`

// One request and no workers: what it wakes up, the gateway finds by polling.
const runtimeOf = (opened: Opened, providerAccounts: ProviderAccounts) =>
  createRuntime({
    db: opened.db,
    masterKeys: opened.masterKeys,
    clock: opened.clock,
    providerAccounts,
    formKey: randomBytes(32), // no page is shown
    baseUrl: () => baseUrlOf(opened.config),
    batchRows: 1,
    poolSize: 2,
    observeBatch: () => {},
    watch: () => {},
    wake: () => {},
  })

// The interface's own words. An unavailable database is reported as every command reports it.
function asCannotDo(error: unknown): never {
  if (!(error instanceof Refusal) || error instanceof Unavailable) throw error
  throw new CannotDo('refused', `The payment was not stored: ${error.message}`, {
    data: { refusal: { code: error.code, field: error.field } },
  })
}
