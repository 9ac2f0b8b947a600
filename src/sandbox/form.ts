import type { Context } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { tooLargePage } from './page.tsx'

const maxFormBytes = 4096

export const formLimit = bodyLimit({ maxSize: maxFormBytes, onError: tooLargePage })

// The texts of a posted form, trimmed; what was not sent is empty.
export async function readForm<Name extends string>(c: Context, names: readonly Name[]) {
  const body: Record<string, unknown> = await c.req.parseBody().catch(() => ({}))
  const texts = names.map(name => [name, typeof body[name] === 'string' ? body[name].trim() : ''])
  return Object.fromEntries(texts) as Record<Name, string>
}
