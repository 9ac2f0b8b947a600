import { formTokenField } from '../../core/formOrigin.ts'
import { isPlainText } from '../../core/text.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import { readFields } from '../http/body.ts'
import type { Ctx } from '../http/context.ts'
import { senderOf } from '../http/operatorAuth.ts'
import { isTokenOfSession } from './formToken.ts'

type FormRuntime = Pick<Runtime, 'limits' | 'bodies' | 'formKey' | 'baseUrl'>

// The fields of a form of our own pages. Undefined if another site sent it, or the token is not that of the session.
export async function readDashboardForm(c: Ctx, runtime: FormRuntime, address: string, session: string) {
  if (senderOf(c, runtime.baseUrl()) === 'other_site') return undefined
  const { fields } = await readFields(c.env.incoming, { runtime, address })
  const texts: Record<string, string> = Object.create(null)
  for (const [name, value] of Object.entries(fields))
    if (typeof value === 'string' && isPlainText(value)) texts[name] = value
  const token = texts[formTokenField] ?? ''
  return isTokenOfSession(runtime.formKey, session, token) ? texts : undefined
}
