import type { FormField, PaymentMethod } from '../../core/provider/paymentMethod.ts'
import { atWallet, mtnWallet, telecelWallet } from '../ghana/wallets.ts'

const seconds = 1000
const minutes = 60 * seconds
const promptMs = 180 * seconds // that a prompt waits for somebody
const pageMs = 30 * minutes // no end of its page is published; who comes later is found by its webhook

const phone: FormField = { name: 'phone', kind: 'phone' }
const email: FormField = { name: 'email', kind: 'email', unlessKnown: 'email' } // it takes no order without one

export const paystackMethods: readonly PaymentMethod[] = [
  { ...mtnWallet, fields: [phone, email], lifetimeMs: promptMs },
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

// What Paystack calls the networks. What is not here is paid on its page.
export const providers: Readonly<Record<string, string>> = {
  mtn_mobile_money: 'mtn',
  telecel_cash: 'vod',
  airteltigo_money: 'atl',
}

export const isWallet = ({ payment_method }: { payment_method: string }) =>
  Object.hasOwn(providers, payment_method)
