import { exportPerson } from '../../../actions/redaction/exportPerson.ts'
import {
  type ErasePlace,
  eraseStep,
  findPerson,
  type KeptPayment,
} from '../../../actions/redaction/person.ts'
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
    at('post', '/people/erase', erase, 'people.erase'),
  ]
}

type Shown = { typed?: string; fault?: string; below?: Child; http?: number }

const show = ({ redactDays }: AreaDeps, c: Ctx, visit: Visit, shown: Shown = {}) =>
  sendDashboardPage(
    c,
    <PeoplePage visit={visit} typed={shown.typed} fault={shown.fault} redactDays={redactDays}>
      {shown.below}
    </PeoplePage>,
    shown.http ?? 200,
  )

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
  const { actor, now } = visit
  const ends = performance.now() + maxErasingMs
  let place: ErasePlace | undefined = placeOf(visit.field('place'))
  let erased = Number(/^\d{1,9}$/.exec(visit.field('erased'))?.[0] ?? 0)
  const kept: KeptPayment[] = []
  while (place && performance.now() < ends) {
    const step: Awaited<ReturnType<typeof eraseStep>> = await eraseStep(
      visit.db,
      { person, actor, now },
      place,
    )
    erased += step.erased
    kept.push(...step.kept.filter(one => !kept.some(known => known.tx_reference === one.tx_reference)))
    place = step.next
  }
  const next = place === undefined ? undefined : { place: textOfPlace(place) }
  return show(deps, c, visit, {
    below: <ErasedCard visit={visit} erase={{ typed: person.value, erased, kept, next }} />,
  })
}

const textOfPlace = (place: ErasePlace) =>
  place === 'indexed' ? place : `${place.merchant_id} ${place.behind}`

// A form field, so any text: without a place that can be read, the erasure begins again.
function placeOf(text: string): ErasePlace {
  const [, merchant_id, behind = ''] = /^([0-9a-z]{10}) ([\w-]{0,40})$/.exec(text) ?? []
  return merchant_id === undefined ? 'indexed' : { merchant_id, behind }
}
