import { exportPerson } from '../../../actions/redaction/exportPerson.ts'
import {
  beginErasing,
  type Erasing,
  eraseStep,
  resumeErasing,
} from '../../../actions/redaction/erasePerson.ts'
import { findPerson } from '../../../actions/redaction/person.ts'
import { readRetention } from '../../../actions/redaction/retention.ts'
import { formTokenOf, isFormToken } from '../../../core/formOrigin.ts'
import { readPerson } from '../../../core/redaction/readPerson.ts'
import type { Person } from '../../../core/redaction/redact.ts'
import type { Child } from '../../../core/markup/jsx-runtime.ts'
import type { Ctx } from '../../http/context.ts'
import type { AreaDeps } from '../areaDeps.ts'
import { sendDashboardPage } from '../frame/frame.tsx'
import type { OperatorRoute, Visit } from '../route.ts'
import { sendFile } from '../sendCsv.ts'
import { ErasedCard, FoundCards, PeoplePage } from './privacyPages.tsx'
import { privacyTexts } from './privacyTexts.ts'

const maxErasingMs = 5000 // of one request; the page continues
const batchDeadlineMs = 10_000

// Find, export and erase one person. The number or address is in no address of a page: every form is posted.
export const privacyRoutes = (deps: AreaDeps): OperatorRoute[] => {
  const at = (
    method: 'get' | 'post',
    path: string,
    handle: (deps: AreaDeps, c: Ctx, visit: Visit) => Promise<Response> | Response,
    permission: 'people.find' | 'people.erase' = 'people.find',
  ): OperatorRoute => ({
    method,
    path,
    permission,
    isSensitive: true,
    handle: (c, visit) => handle(deps, c, visit),
  })
  return [
    at('get', '/people', (_, c, visit) => show(deps, c, visit)),
    at('post', '/people/find', find),
    at('post', '/people/export', sendExport),
    {
      ...at('post', '/people/erase', erase, 'people.erase'),
      isContinued: visit => progressOf(deps, visit) !== undefined,
    },
  ]
}

type Shown = { typed?: string; fault?: string; below?: Child; http?: number }

async function show({ redactDays, runtime }: AreaDeps, c: Ctx, visit: Visit, shown: Shown = {}) {
  const retention = await readRetention(visit.db, redactDays, visit.now)
  const { typed, fault, below, http = 200 } = shown
  return sendDashboardPage(
    c,
    <PeoplePage visit={visit} typed={typed} fault={fault} retention={retention} zone={runtime.timeZone}>
      {below}
    </PeoplePage>,
    http,
  )
}

const refuse = (deps: AreaDeps, c: Ctx, visit: Visit) =>
  show(deps, c, visit, { typed: visit.field('person'), fault: privacyTexts[visit.lang].fault, http: 422 })

async function find(deps: AreaDeps, c: Ctx, visit: Visit) {
  const person = readPerson(visit.field('person'))
  return person ? showFound(deps, c, visit, person) : refuse(deps, c, visit)
}

async function showFound(deps: AreaDeps, c: Ctx, visit: Visit, person: Person, fault?: string) {
  const found = await findPerson(visit.db, person, visit.actor, visit.now)
  const typed = person.value
  return show(deps, c, visit, {
    typed,
    below: <FoundCards visit={visit} typed={typed} found={found} fault={fault} />,
    http: fault ? 422 : 200,
  })
}

function sendExport(deps: AreaDeps, c: Ctx, visit: Visit) {
  const person = readPerson(visit.field('person'))
  if (!person) return refuse(deps, c, visit)
  const { runtime } = deps
  const open = () => runtime.db.withQuota('dashboard').withDeadline(performance.now() + batchDeadlineMs)
  const name = `person-${visit.now.toISOString().slice(0, 10)}.json`
  return sendFile(c, { name, type: 'application/json' }, exportPerson(open, person, visit.actor, visit.now))
}

async function erase(deps: AreaDeps, c: Ctx, visit: Visit) {
  const person = readPerson(visit.field('person'))
  if (!person) return refuse(deps, c, visit)
  if (visit.field('sure') !== 'yes')
    return showFound(deps, c, visit, person, privacyTexts[visit.lang].confirmFault)
  const { actor, now, db } = visit
  const ends = performance.now() + (deps.erasingMs ?? maxErasingMs)
  const begun = progressOf(deps, visit)
  let erasing = begun
    ? await resumeErasing(db, { ...begun, person }, now)
    : await beginErasing(db, person, actor, now)
  // At least one step, so that it always comes further.
  do {
    erasing = await eraseStep(db, erasing, actor, now)
  } while (erasing.place && performance.now() < ends)
  const { place, done, kept } = erasing
  const progress =
    place &&
    signProgress(deps.runtime.formKey, actor.id, person, {
      place,
      done,
      kept,
      begun_at: begun?.begun_at ?? now.getTime(),
    })
  return show(deps, c, visit, { below: <ErasedCard visit={visit} erasing={erasing} progress={progress} /> })
}

type Progress = Pick<Erasing, 'place' | 'done' | 'kept'> & { begun_at: number }

const maxProgressMs = 24 * 3_600_000 // since the confirmation with which the erasure began

// The form of an unfinished erasure carries how far it has come. It is signed, because the audit log gets its counts, and
// because the erasure goes on with it without another confirmation.
function signProgress(key: Buffer, userId: string, person: Person, progress: Progress): string {
  const text = Buffer.from(JSON.stringify(progress)).toString('base64url')
  return `${text}.${progressToken(key, userId, person, text)}`
}

const progressToken = (key: Buffer, userId: string, { kind, value }: Person, text: string) =>
  formTokenOf(key, ['erasure', userId, kind, value, text])

// Undefined if there is none that this user got for this person within the last day: the erasure begins again.
function progressOf({ runtime }: AreaDeps, { actor, now, field }: Visit): Progress | undefined {
  const person = readPerson(field('person'))
  const [text = '', token] = field('progress').split('.')
  if (!person || !isFormToken(progressToken(runtime.formKey, actor.id, person, text), token)) return undefined
  const progress = JSON.parse(Buffer.from(text, 'base64url').toString()) as Progress
  return now.getTime() - progress.begun_at < maxProgressMs ? progress : undefined
}
