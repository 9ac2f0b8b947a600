import type { Context, MiddlewareHandler } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { tooLargePage } from './page.tsx'

const maxFormBytes = 4096

type AnswerTooLarge = (c: Context) => Response | Promise<Response>

// Reading the body throws only if the client goes away meanwhile, which is no bug: nobody reads the answer. Errors of the
// handlers behind it do not pass through here; they reach `onError` of the sandbox.
export function limitBody(maxSize: number, answerTooLarge: AnswerTooLarge): MiddlewareHandler {
  const limit = bodyLimit({ maxSize, onError: answerTooLarge })
  return async (c, next) => {
    try {
      return await limit(c, next)
    } catch {
      return c.body(null, 400)
    }
  }
}

export const formLimit = limitBody(maxFormBytes, tooLargePage)

// The texts of a posted form, trimmed; what was not sent is empty.
export async function readForm<Name extends string>(c: Context, names: readonly Name[]) {
  const body: Record<string, unknown> = await c.req.parseBody().catch(() => ({}))
  const texts = names.map(name => [name, typeof body[name] === 'string' ? body[name].trim() : ''])
  return Object.fromEntries(texts) as Record<Name, string>
}
