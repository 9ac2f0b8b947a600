import type { PaymentMethod } from '../../core/provider/paymentMethod.ts'
import { ghanaNumbers } from '../../core/phone.ts'

// Mobile money wallets in Ghana, the same for all providers. A number may have been ported to another network, so every
// number of the country is accepted.
const wallet = { currencies: ['GHS'], next: 'prompt', numbers: ghanaNumbers } as const

type Wallet = Omit<PaymentMethod, 'fields' | 'lifetimeMs'>

export const mtnWallet: Wallet = {
  ...wallet,
  payment_method: 'mtn_mobile_money',
  label: 'MTN MoMo',
  badge: { text: 'MTN', background: '#ffcc00', ink: '#15201b' },
  network: 'mtn',
  dial: { code: '*170#', steps: '6 My Wallet, 3 My Approvals' },
}

export const telecelWallet: Wallet = {
  ...wallet,
  payment_method: 'telecel_cash',
  label: 'Telecel Cash',
  badge: { text: 'T', background: '#e60000', ink: '#ffffff' },
  network: 'telecel',
  dial: { code: '*110#' },
}

export const atWallet: Wallet = {
  ...wallet,
  payment_method: 'airteltigo_money',
  label: 'AT Money',
  badge: { text: 'AT', background: '#12317d', ink: '#ffffff' },
  network: 'at',
  dial: { code: '*110#' },
}

// The national format, which some providers require.
export const localNumber = (phone: string) => phone.replace(/^\+233/, '0')
