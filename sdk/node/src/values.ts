// Values of answers and notifications, which may have any type.
export const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

export function dateOf(value: unknown): Date | null {
  const date = typeof value === 'string' ? new Date(value) : undefined
  return date && !Number.isNaN(date.getTime()) ? date : null
}

export const extraOf = (value: unknown): Record<string, string | null> =>
  typeof value === 'object' && value !== null ? (value as Record<string, string | null>) : {}
