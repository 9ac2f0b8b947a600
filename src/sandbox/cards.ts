import type { Texts } from '../core/languages/en.ts'
import type { Card } from '../store/sandboxCharges.ts'

// The outcome of a test card. The language files have a text for each.
type CardEnding = keyof Texts['sandbox']['by_card']
type TestCard = { number: string; ending: CardEnding }

export const testCards: readonly TestCard[] = [
  { number: '4111111111111111', ending: 'card_approved' },
  { number: '5555555555554444', ending: 'card_approved' },
  { number: '4242424242424242', ending: '3ds' },
  { number: '4000000000000002', ending: 'card_not_honoured' },
  { number: '5105105105105100', ending: 'card_no_funds' },
  { number: '4000000000000069', ending: 'card_expired' },
  { number: '4000000000000127', ending: 'card_wrong_cvv' },
  { number: '4000000000000119', ending: 'card_error_then_paid' },
]

const rightCvv = '123'

export const cardFields = ['number', 'expiry', 'cvv', 'name'] as const
export type CardField = (typeof cardFields)[number]
export type CardForm = Record<CardField, string>
type CardFault = keyof Texts['sandbox']['card_faults']
export type CardErrors = Partial<Record<CardField, CardFault>>
type ReadCard = { ending: CardEnding; card: Card } | { errors: CardErrors }

// Reads the card form. Only the card type and the last four digits leave this function.
export function readCard(form: CardForm, now: Date): ReadCard {
  const number = form.number.replace(/[ -]/g, '')
  const known = testCards.find(card => card.number === number)
  const errors: CardErrors = {
    ...errorOf('number', numberError(number) ?? (known ? undefined : 'no_test_card')),
    ...errorOf('expiry', expiryError(form.expiry, now)),
    ...errorOf('cvv', /^\d{3,4}$/.test(form.cvv) ? undefined : 'cvv'),
    ...errorOf('name', form.name.length > 100 ? 'name' : undefined),
  }
  if (!known || Object.keys(errors).length > 0) return { errors }
  const ending = form.cvv === rightCvv ? known.ending : 'card_wrong_cvv'
  return { ending, card: { card_type: cardTypeOf(number), card_last4: number.slice(-4) } }
}

const errorOf = (field: CardField, fault?: CardFault): CardErrors => (fault ? { [field]: fault } : {})

function numberError(number: string): CardFault | undefined {
  if (number === '') return 'no_number'
  if (!/^\d+$/.test(number)) return 'not_digits'
  if (number.length < 12 || number.length > 19) return 'length'
  return passesLuhn(number) ? undefined : 'digit'
}

// The Luhn check: every second digit from the right is doubled, and the sum of all digits ends in 0.
function passesLuhn(number: string): boolean {
  const sum = [...number].toReversed().reduce((total, digit, at) => {
    const value = Number(digit) * (at % 2 === 1 ? 2 : 1)
    return total + (value > 9 ? value - 9 : value)
  }, 0)
  return sum % 10 === 0
}

// A card is valid until the last day of its month.
function expiryError(text: string, now: Date): CardFault | undefined {
  const [, month, year] = /^(\d\d) ?\/? ?(?:20)?(\d\d)$/.exec(text) ?? []
  if (!month || !year || month < '01' || month > '12') return 'expiry'
  const isPast = Date.UTC(2000 + Number(year), Number(month)) <= now.getTime()
  return isPast ? 'over' : undefined
}

const cardTypeOf = (number: string) => (number.startsWith('4') ? 'Visa' : 'Mastercard')
