// Values as Paystack writes them. Undefined: it is not one.

// An amount, as a number or as its digits.
export function subunits(told: unknown): bigint | undefined {
  if (typeof told === 'number') return Number.isSafeInteger(told) && told >= 0 ? BigInt(told) : undefined
  return typeof told === 'string' && /^\d{1,15}$/.test(told) ? BigInt(told) : undefined
}

export function idOf(told: unknown): string | undefined {
  return typeof told === 'number' || (typeof told === 'string' && told !== '') ? String(told) : undefined
}

export function timeOf(told: unknown): Date | undefined {
  const time = typeof told === 'string' ? new Date(told) : undefined
  return time && !Number.isNaN(time.getTime()) ? time : undefined
}
