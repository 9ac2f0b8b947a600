import { currencies } from '../../src/core/money.ts'
import type { TestGateway } from '../support/gateway/gateway.ts'

// Merchants of all kinds, and what of their settings decides about a request that its schema allows.
export type Shop = {
  merchant_key: string
  secret_key: string
  most: number // the largest total that it takes
  origins: string[]
  currencies: readonly string[]
  isClosed: boolean
  takesUnsigned: boolean
  signsChecks: boolean
}

const largest = '999999999999.99'
const origin = 'https://shop.example'

export async function openDeliveryDatabase(gateway: TestGateway): Promise<Shop[]> {
  const open = async (settings: string[], told: Partial<Shop> = {}) => {
    const { merchant_id, test, live } = await gateway.addMerchant('rate_limit=0', ...settings)
    if (told.isClosed) await gateway.deactivate(merchant_id)
    const usual = {
      most: 999_999.99,
      origins: [],
      currencies: ['GHS'],
      isClosed: false,
      takesUnsigned: false,
      signsChecks: false,
    }
    return [test, live].map(keys => ({ ...usual, ...told, ...keys }))
  }
  const shops = await Promise.all([
    open([`max_total=${largest}`, `currencies=${currencies.join(',')}`], {
      most: Number(largest),
      currencies,
    }),
    open([`max_total=${largest}`, 'errors_as_200=on'], { most: Number(largest) }),
    open(['unsigned_requests=on', 'signed_status_checks=on'], { takesUnsigned: true, signsChecks: true }),
    open([`allowed_origins=${origin}`], { origins: [origin] }),
    open([], { isClosed: true }),
  ])
  return shops.flat()
}
