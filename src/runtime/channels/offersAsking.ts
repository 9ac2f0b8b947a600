import { fieldsToAsk, type Known } from '../../core/channel/formFields.ts'
import type { Offer } from '../channels.ts'

const made = new WeakMap<readonly Offer[], Map<string, readonly Offer[]>>()

// The ways with what is left to ask this customer. The very same each time: what is drawn of them is kept by them.
export function offersAsking(offers: readonly Offer[], known: Known): readonly Offer[] {
  const all = made.get(offers) ?? new Map<string, readonly Offer[]>()
  const key = `${Boolean(known.email)} ${Boolean(known.name)}`
  const asking = all.get(key) ?? offers.map(offer => ({ ...offer, fields: fieldsToAsk(offer.fields, known) }))
  made.set(offers, all.set(key, asking))
  return asking
}
