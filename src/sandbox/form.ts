import type { HttpBindings } from '@hono/node-server'
import type { Context, MiddlewareHandler } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { formSender, formTokenField, formTokenOf, isFormToken } from '../core/formOrigin.ts'
import type { Db } from '../store/db.ts'
import type { Callbacks } from './callbacks.ts'
import { elsewherePage, tooLargePage } from './page.tsx'

// What all routes of the simulated provider share.
export type SandboxContext = {
  db: Db
  clock: () => Date
  key: string
  formKey: Buffer
  baseUrl: string
  pace: number
  callbacks: Callbacks
}

export type SandboxEnv = { Bindings: HttpBindings }

const maxFormBytes = 4096

type AnswerTooLarge = (c: Context) => Response | Promise<Response>

// Reading the body throws only if the client disconnects, which is no bug. Errors of the handlers do not pass here;
// they reach `onError` of the sandbox.
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

const formLimit = limitBody(maxFormBytes, tooLargePage)

type FormKeys = Pick<SandboxContext, 'formKey' | 'baseUrl'>

export const tokenFor = ({ formKey }: FormKeys, reference: string) =>
  formTokenOf(formKey, ['sandbox', reference])

// The middleware of every route that takes a form. It limits the body and refuses a form of another site.
export const ownForms = (keys: FormKeys): [MiddlewareHandler<SandboxEnv>, MiddlewareHandler<SandboxEnv>] => [
  formLimit,
  async (c, next) => ((await isOwn(c, keys)) ? next() : elsewherePage(c)),
]

async function isOwn(c: Context, keys: FormKeys): Promise<boolean> {
  const [site, origin, host] = ['sec-fetch-site', 'origin', 'host'].map(name => c.req.header(name))
  const sender = formSender({ site, origin, host }, keys.baseUrl)
  if (sender !== 'unproven') return sender === 'own_page'
  const sent = await readForm(c, [formTokenField])
  return isFormToken(tokenFor(keys, c.req.param('ref') ?? ''), sent[formTokenField])
}

// The trimmed texts of a submitted form. A missing field is empty.
export async function readForm<Name extends string>(c: Context, names: readonly Name[]) {
  const body: Record<string, unknown> = await c.req.parseBody().catch(() => ({}))
  const texts = names.map(name => [name, typeof body[name] === 'string' ? body[name].trim() : ''])
  return Object.fromEntries(texts) as Record<Name, string>
}
