import { formTokenField } from '../../core/formOrigin.ts'
import { withoutControlCharacters } from '../../core/text.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import { readFields, readUpload } from '../http/body.ts'
import type { Ctx } from '../http/context.ts'
import { senderOf } from '../http/operatorAuth.ts'
import { isTokenOfSession } from './formToken.ts'

type FormRuntime = Pick<Runtime, 'limits' | 'bodies' | 'formKey' | 'dashboardUrl'>

export type DashboardForm = {
  fields: Readonly<Record<string, string>>
  files: ReadonlyMap<string, Buffer>
}

const noFiles: DashboardForm['files'] = new Map()

// The fields of a form of our own pages. Undefined if another site sent it, or the token is not that of the session.
export async function readDashboardForm(
  c: Ctx,
  runtime: FormRuntime,
  { address, session, hasFile }: { address: string; session: string; hasFile?: boolean },
): Promise<DashboardForm | undefined> {
  if (senderOf(c, runtime.dashboardUrl()) === 'other_site') return undefined
  const sender = { runtime, address }
  const { fields, files } = hasFile
    ? await readUpload(c.env.incoming, sender)
    : { ...(await readFields(c.env.incoming, sender)), files: noFiles }
  const texts: Record<string, string> = Object.create(null)
  for (const [name, value] of Object.entries(fields))
    if (typeof value === 'string') texts[name] = withoutControlCharacters(value)
  const token = texts[formTokenField] ?? ''
  return isTokenOfSession(runtime.formKey, session, token) ? { fields: texts, files } : undefined
}
