import type { Payment } from '../../core/payment/payment.ts'
import type { Refund } from '../../core/refund/refund.ts'
import { isPlainText } from '../../core/text.ts'
import type { Db } from '../../store/db.ts'
import { findMerchant } from '../../store/merchants/merchants.ts'
import { findSigners } from '../../store/merchants/signers.ts'
import type { MasterKeys } from '../../store/merchants/vault.ts'
import { searchPayments } from '../../store/payments/payments.ts'
import { refundsOfPayment } from '../../store/refunds/merchantRefunds.ts'
import { demoId, findRequestSigner } from './onboard.ts'

// What the demo shop signs and verifies with, in test mode. A merchant's own server has these in its environment.
export type DemoCredentials = {
  name: string
  merchant_key: string
  secret_key: string
  ipn_secrets: readonly string[]
}

// Undefined if there is no demo merchant, if it is deactivated, or if its secrets cannot be opened.
export async function findDemoCredentials(
  db: Db,
  masterKeys: MasterKeys,
  now: Date,
): Promise<DemoCredentials | undefined> {
  const merchant = await findMerchant(db, demoId)
  if (!merchant?.active) return undefined
  const [signer, signers] = await Promise.all([
    findRequestSigner(db, masterKeys, demoId, 'test', now),
    findSigners(db, masterKeys, [demoId], now),
  ])
  const [secret] = signer?.secrets ?? [] // the first reading is the secret as text
  const keys = signers.find(({ mode }) => mode === 'test')?.keys ?? []
  if (!signer || !secret || keys.length === 0) return undefined
  return {
    name: merchant.name,
    merchant_key: signer.merchant_key,
    secret_key: secret.toString('utf8'),
    ipn_secrets: keys.map(key => `whsec_${key.toString('base64')}`),
  }
}

// A test payment of the demo merchant by its invoice id. Other merchants and live payments are never found.
export async function findDemoPayment(db: Db, invoice_id: string): Promise<Payment | undefined> {
  if (!/^[\w-]{1,25}$/.test(invoice_id) || !isPlainText(invoice_id)) return undefined
  const found = await searchPayments(db, [demoId], invoice_id)
  return found.find(payment => payment.mode === 'test' && payment.invoice_id === invoice_id)
}

export const refundsOfOrder = async (db: Db, payment: Payment): Promise<Refund[]> =>
  payment.refunded_amount === null ? [] : refundsOfPayment(db, payment)
