import { otherCharge } from '../../../actions/dashboard/paymentDetails.ts'
import {
  closeInboxTask,
  type InboxTask,
  isTaskKind,
  maxTaskNote,
  readInboxTasks,
  readTaskInbox,
  releaseTask,
  type TaskFilter,
  type TaskKey,
  takeTask,
  type WorkResult,
  writeTaskNote,
} from '../../../actions/payments/taskInbox.ts'
import { fill, isPlainText } from '../../../core/text.ts'
import type { Ctx } from '../../http/context.ts'
import type { AreaDeps } from '../areaDeps.ts'
import { sendDashboardPage } from '../frame/frame.tsx'
import { problemPage } from '../frame/problems.tsx'
import { type OperatorRoute, operatorBase, type Visit } from '../route.ts'
import { inboxTexts, type TaskNotice } from './inboxTexts.ts'
import { taskPath } from './taskPaths.ts'
import { refundKinds, type TaskFault, TaskPage, TasksPage } from './tasksPages.tsx'

const one = '/tasks/:merchant/:reference/:kind'

export const tasksRoutes = (deps: AreaDeps): OperatorRoute[] => {
  const work = (name: string, act: Act): OperatorRoute => ({
    method: 'post',
    path: `${one}/${name}`,
    permission: 'tasks.work',
    handle: (c, visit) => workForm(deps, c, visit, act),
  })
  return [
    {
      method: 'get',
      path: '/tasks',
      permission: 'tasks.view',
      handle: (c, visit) => listTasks(deps, c, visit),
    },
    {
      method: 'get',
      path: one,
      permission: 'tasks.view',
      handle: (c, visit) => showTask(deps, c, visit),
    },
    work('take', async (working, key) => noticeOf(await takeTask(working, key), 'taken')),
    work('release', async (working, key) => noticeOf(await releaseTask(working, key), 'released')),
    work('note', async (working, key, note) => {
      const fault = noteFault(note)
      return fault ? { of: 'note', ...fault } : noticeOf(await writeTaskNote(working, key, note), 'noted')
    }),
    work('close', async (working, key, note) => {
      const fault = note.trim() === '' ? ({ typed: note } as const) : noteFault(note)
      if (fault) return { of: 'close', ...fault }
      return noticeOf(await closeInboxTask(working, key, note.trim()), 'closed')
    }),
  ]
}

type Working = Parameters<typeof takeTask>[0]
type Act = (working: Working, key: TaskKey, note: string) => Promise<TaskNotice | TaskFault | undefined>

const noteFault = (note: string) =>
  note.length > maxTaskNote || !isPlainText(note) ? { typed: note } : undefined

const noticeOf = (result: WorkResult, notice: TaskNotice): TaskNotice | undefined => {
  if (result === 'no_task') return undefined
  if (result === 'done') return notice
  return result === 'already' ? 'already' : 'changed'
}

async function listTasks({ runtime }: AreaDeps, c: Ctx, visit: Visit) {
  const kind = c.req.query('kind')
  const owner = c.req.query('owner')
  const filter: TaskFilter = {
    isClosed: c.req.query('state') === 'closed',
    kind: isTaskKind(kind) ? kind : undefined,
    owner: owner === 'me' ? visit.signedIn.user.user_id : owner === 'none' ? null : undefined,
  }
  const inbox = await readTaskInbox(visit.db, filter, c.req.query('after'))
  return sendDashboardPage(
    c,
    <TasksPage
      visit={visit}
      inbox={inbox}
      filter={filter}
      isFirst={!c.req.query('after')}
      zone={runtime.timeZone}
    />,
  )
}

function keyIn(c: Ctx): Omit<TaskKey, 'number'> | undefined {
  const kind = c.req.param('kind')
  const [merchant_id = '', tx_reference = ''] = [c.req.param('merchant'), c.req.param('reference')]
  return isTaskKind(kind) ? { merchant_id, tx_reference, kind } : undefined
}

async function showTask({ runtime }: AreaDeps, c: Ctx, visit: Visit, fault?: TaskFault) {
  const key = keyIn(c)
  const tasks = key ? await readInboxTasks(visit.db, key) : []
  if (tasks.length === 0) return problemPage(c, visit.lang, 'notFound')
  const refundable = await refundableOf(visit, tasks)
  const notices = Object.keys(inboxTexts[visit.lang].done) as TaskNotice[]
  const text = fault && fill(inboxTexts[visit.lang].noteFault, { max: maxTaskNote })
  return sendDashboardPage(
    c,
    <TaskPage
      visit={visit}
      tasks={tasks}
      refundable={refundable}
      zone={runtime.timeZone}
      notice={notices.find(word => word === c.req.query('done'))}
      fault={fault}
      faultText={text}
    />,
    fault ? 422 : 200,
  )
}

// The attempts whose charge the form of a refund accepts.
async function refundableOf({ db }: Visit, tasks: readonly InboxTask[]) {
  const open = tasks.filter(({ kind, closed_at }) => closed_at === null && refundKinds.includes(kind))
  const numbers = open.map(async task =>
    (await otherCharge(db, task, task.attempt_number)) ? [task.attempt_number] : [],
  )
  return new Set((await Promise.all(numbers)).flat())
}

async function workForm(deps: AreaDeps, c: Ctx, visit: Visit, act: Act) {
  const key = keyIn(c)
  const number = Number(/^\d{1,6}$/.exec(visit.field('number'))?.[0] ?? 0)
  if (!key) return problemPage(c, visit.lang, 'notFound')
  const { db, actor, now } = visit
  const working = { db, actor, now, user_id: visit.signedIn.user.user_id, seen: visit.field('seen') }
  const outcome = await act(working, { ...key, number }, visit.field('note').replace(/\r\n?|\n/g, ' '))
  if (!outcome) return problemPage(c, visit.lang, 'notFound')
  if (typeof outcome === 'object') return showTask(deps, c, visit, { ...outcome, number })
  return c.redirect(`${operatorBase}${taskPath(key)}?done=${outcome}`, 303)
}
