// Enough for its owner to recognise, not enough for a stranger to use.
export const maskPhone = (phone: string) => {
  const local = phone.startsWith('+233') ? `0${phone.slice(4)}` : phone
  return `${local.slice(0, 3)} ••• ${local.slice(-4)}`
}

const longNumber = /\+?\d[\d .-]{5,}\d/g
const leastShown = 9 // of fewer digits, the first and the last would be almost all

// In a sentence a long number is somebody's: of a phone, a wallet or a card.
export const maskNumbers = (sentence: string) =>
  sentence.replace(longNumber, number => {
    const digits = number.replace(/\D/g, '')
    if (digits.length < leastShown) return '•••'
    return maskPhone(digits.startsWith('233') ? `+${digits}` : digits)
  })

// A wallet's number; what a provider tells of a card comes masked.
export const maskInstrument = (instrument: string | null) =>
  instrument?.startsWith('+') ? maskPhone(instrument) : instrument

export const maskEmail = (email: string) => `${email.slice(0, 1)}••@••`

// Whoever a message goes to.
export const maskRecipient = (recipient: string) =>
  recipient.startsWith('+') ? maskPhone(recipient) : maskEmail(recipient)

// For the customer's own page: whose it is, and at which house.
export const maskMailbox = (email: string) =>
  `${[...email][0] ?? ''}••@${email.slice(email.lastIndexOf('@') + 1)}`

export const maskName = (name: string) => `${[...name][0] ?? ''}•••`

// A shop may send along more about a person, in fields of its own. Their names tell.
const personal =
  /^(customer|buyer|payer|client|contact|billing|shipping|user)?(e?mail(address)?|(phone|mobile|telephone|tel|cell|msisdn|whatsapp)(no|number)?|(full|first|last|middle|sur)?name)$/

const isPersonal = (name: string) => personal.test(name.toLowerCase().replace(/[^a-z0-9]/g, ''))

export function maskExtra(extra: Readonly<Record<string, string>>): Record<string, string> {
  const masked: Record<string, string> = { ...extra }
  for (const name of Object.keys(extra)) if (isPersonal(name)) masked[name] = '•••'
  return masked
}
