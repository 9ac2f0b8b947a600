import type { Order, TollgateOptions } from '../../../sdk/node/src/index.ts'
import { createTollgate } from '../../../sdk/node/src/index.ts'
import { postForm, wallet } from '../checkout/stages.ts'
import type { TestGateway, TestMerchant } from '../gateway/gateway.ts'
import { newInvoice } from './merchant.ts'

// A shop that uses the SDK with its test keys.
export const sdkClient = (
  { url }: Pick<TestGateway, 'url'>,
  { test: keys }: TestMerchant,
  changed: Partial<TollgateOptions> = {},
) =>
  createTollgate({
    baseUrl: url,
    merchantKey: keys.merchant_key,
    merchantSecret: keys.secret_key,
    ipnSecret: keys.ipn_secret,
    backoffMs: 20,
    ...changed,
  })

export const anOrder = (changed: Partial<Order> = {}) =>
  ({ invoiceId: newInvoice(), total: '25.00', ...changed }) as Order & { total: string }

// Pays on the checkout page with a test wallet, as a customer does.
export const payOnPage = (checkoutUrl: string, phone: string, number = 1) =>
  postForm(`${checkoutUrl}/pay`, { number: String(number), ...wallet(phone) })
