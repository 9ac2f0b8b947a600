// Enough for its owner to recognise, not enough for a stranger to use.
export const maskPhone = (phone: string) => {
  const local = phone.startsWith('+233') ? `0${phone.slice(4)}` : phone
  return `${local.slice(0, 3)} ••• ${local.slice(-4)}`
}

// A wallet's number; what a provider tells of a card comes masked.
export const maskInstrument = (instrument: string | null) =>
  instrument?.startsWith('+') ? maskPhone(instrument) : instrument

export const maskEmail = (email: string) => `${email.slice(0, 1)}••@••`

export const maskName = (name: string) => `${[...name][0] ?? ''}•••`
