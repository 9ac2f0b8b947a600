import type { Card } from '../store/sandboxCharges.ts'
import type { EndingName } from './endings.ts'

type TestCard = { number: string; ending: EndingName | '3ds'; words: string }

export const testCards: readonly TestCard[] = [
  { number: '4111111111111111', ending: 'card_approved', words: 'paid' },
  { number: '5555555555554444', ending: 'card_approved', words: 'paid' },
  { number: '4242424242424242', ending: '3ds', words: 'paid after a 3-D Secure step' },
  { number: '4000000000000002', ending: 'card_not_honoured', words: 'not paid: 05 do not honour' },
  { number: '5105105105105100', ending: 'card_no_funds', words: 'not paid: 51 insufficient funds' },
  { number: '4000000000000069', ending: 'card_expired', words: 'not paid: 54 expired card' },
  { number: '4000000000000127', ending: 'card_wrong_cvv', words: 'not paid: 82 wrong CVV' },
  { number: '4000000000000119', ending: 'card_error_then_paid', words: '96 system error first, then paid' },
]

const rightCvv = '123'

export const cardFields = ['number', 'expiry', 'cvv', 'name'] as const
export type CardField = (typeof cardFields)[number]
export type CardForm = Record<CardField, string>
export type CardErrors = Partial<Record<CardField, string>>
export type ReadCard = { ending: EndingName | '3ds'; card: Card } | { errors: CardErrors }

// What a card page makes of what was typed. Only the type and the last four digits leave this function.
export function readCard(form: CardForm, now: Date): ReadCard {
  const number = form.number.replace(/[ -]/g, '')
  const known = testCards.find(card => card.number === number)
  const errors: CardErrors = {
    ...wrong(
      'number',
      numberError(number) ?? (known ? undefined : 'This is no test card. Take one from the list.'),
    ),
    ...wrong('expiry', expiryError(form.expiry, now)),
    ...wrong(
      'cvv',
      /^\d{3,4}$/.test(form.cvv) ? undefined : 'The CVV is the 3 digits on the back of the card.',
    ),
    ...wrong('name', form.name.length > 100 ? 'The name is longer than 100 characters.' : undefined),
  }
  if (!known || Object.keys(errors).length > 0) return { errors }
  const ending = form.cvv === rightCvv ? known.ending : 'card_wrong_cvv'
  return { ending, card: { card_type: typeOf(number), card_last4: number.slice(-4) } }
}

const wrong = (field: CardField, words?: string): CardErrors => (words ? { [field]: words } : {})

function numberError(number: string): string | undefined {
  if (number === '') return 'The card number is missing.'
  if (!/^\d+$/.test(number)) return 'A card number has digits only.'
  if (number.length < 12 || number.length > 19) return 'A card number has 12 to 19 digits.'
  return passesLuhn(number) ? undefined : 'A digit is wrong. Compare the number with the card.'
}

// Every second digit from the right is doubled, and the sum of all digits ends in 0.
export function passesLuhn(number: string): boolean {
  const sum = [...number].toReversed().reduce((total, digit, at) => {
    const value = Number(digit) * (at % 2 === 1 ? 2 : 1)
    return total + (value > 9 ? value - 9 : value)
  }, 0)
  return sum % 10 === 0
}

// A card is good until the last day of its month.
function expiryError(text: string, now: Date): string | undefined {
  const [, month, year] = /^(\d\d) ?\/? ?(?:20)?(\d\d)$/.exec(text) ?? []
  if (!month || !year || month < '01' || month > '12') return 'Write month and year like 09/30.'
  const isPast = Date.UTC(2000 + Number(year), Number(month)) <= now.getTime()
  return isPast ? 'This date is over. Any date to come will do.' : undefined
}

const typeOf = (number: string) => (number.startsWith('4') ? 'Visa' : 'Mastercard')
