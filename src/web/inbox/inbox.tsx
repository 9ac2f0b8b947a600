import { readFileSync } from 'node:fs'
import { Hono } from 'hono'
import { recentMessage, recentMessages } from '../../actions/messages/recentMessages.ts'
import type { Medium } from '../../core/message/messenger.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import { wantsJson } from '../http/accepts.ts'
import { type Ctx, type Env, respond } from '../http/context.ts'
import { isRefusal, refusalAnswer } from '../http/errors.ts'
import type { OperatorDoor } from '../http/operatorDoor.ts'
import { guard } from '../support/guard.tsx'
import { inboxHeaders, mailHeaders } from './headers.ts'
import { tellList, tellOne } from './json.ts'
import { ListPage, UnreachablePage } from './pages.tsx'

const css = readFileSync(new URL('./inbox.css', import.meta.url), 'utf8')

export type InboxOptions = {
  runtime: Pick<Runtime, 'db' | 'baseUrl'>
  door: OperatorDoor
  goesOut?(medium: Medium): boolean // whether such messages leave this machine
  from?: string // whom a mail comes from
}

// Every mail and SMS as its reader sees it, for whoever builds or watches. To be mounted at /inbox, beside /support,
// whose looks it shares and whose visitors it takes. It only reads.
export function inboxRoutes(options: InboxOptions) {
  const routes = new Hono<Env>({ strict: false })
  routes.use(guard(inboxHeaders, options.door))
  routes.get('/inbox.css', c => c.body(css, 200, { 'content-type': 'text/css; charset=utf-8' }))
  routes.get('/:merchant_id/:message_id', c => orUnreachable(c, () => tellOne(options, c)))
  routes.get('/:merchant_id/:message_id/html', c => orUnreachable(c, () => showMail(options, c)))
  routes.get('/', c => orUnreachable(c, () => showList(options, c)))
  return routes
}

async function showList(options: InboxOptions, c: Ctx) {
  c.header('vary', 'accept')
  return wantsJson(c.req.header('accept')) ? tellList(options, c) : showPage(options, c)
}

async function showPage({ runtime, goesOut = () => false, from = 'Tollgate' }: InboxOptions, c: Ctx) {
  const before = c.req.query('before')
  const list = await recentMessages(runtime, before)
  return c.html(<ListPage {...list} isFirst={before === undefined} goesOut={goesOut} from={from} />)
}

// The mail alone, for the frame on the page.
async function showMail({ runtime }: InboxOptions, c: Ctx) {
  const { merchant_id = '', message_id = '' } = c.req.param()
  const message = await recentMessage(runtime, { merchant_id, message_id })
  if (!message?.mail) return c.notFound()
  c.header('cross-origin-opener-policy', undefined) // a browser refuses it together with a sandbox
  return c.html(message.mail.html, 200, mailHeaders)
}

async function orUnreachable(c: Ctx, show: () => Promise<Response>) {
  try {
    return await show()
  } catch (error) {
    if (!isRefusal(error)) throw error
    if (wantsJson(c.req.header('accept'))) return respond(c, refusalAnswer(error, c.get('requestId')))
    return c.html(<UnreachablePage />, 503, { 'retry-after': '5' })
  }
}
