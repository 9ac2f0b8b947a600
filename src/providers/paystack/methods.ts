import type { FormField, PaymentMethod } from '../../core/provider/paymentMethod.ts'
import { atWallet, mtnWallet, telecelWallet } from '../ghana/wallets.ts'

const seconds = 1000
const minutes = 60 * seconds
const promptMs = 180 * seconds
const pageMs = 30 * minutes // how long the page lives is not documented; a later payment is found by its webhook

const phone: FormField = { name: 'phone', kind: 'phone' }
const email: FormField = { name: 'email', kind: 'email', unlessKnown: 'email' } // Paystack requires one

export const paystackMethods: readonly PaymentMethod[] = [
  // The only number that Paystack publishes for tests in Ghana.
  { ...mtnWallet, fields: [phone, email], lifetimeMs: promptMs, testNumbers: { '055 123 4987': 'paid' } },
  { ...telecelWallet, fields: [phone, email], lifetimeMs: promptMs },
  { ...atWallet, fields: [phone, email], lifetimeMs: promptMs },
  {
    payment_method: 'card',
    label: 'Card',
    badge: { text: 'Card', background: '#2a3550', ink: '#ffffff' },
    currencies: ['GHS'],
    fields: [email],
    next: 'redirect',
    lifetimeMs: pageMs,
  },
]

// Paystack's names of the mobile networks. Other methods are paid on Paystack's page.
export const walletProviders: Readonly<Record<string, string>> = {
  mtn_mobile_money: 'mtn',
  telecel_cash: 'vod',
  airteltigo_money: 'atl',
}

export const isWallet = ({ payment_method }: { payment_method: string }) =>
  Object.hasOwn(walletProviders, payment_method)
