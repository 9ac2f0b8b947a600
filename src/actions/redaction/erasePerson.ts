import type { Actor } from '../../core/access/audit.ts'
import {
  type Patterns,
  patternsOf,
  type Person,
  spellingOf,
  textsNaming,
} from '../../core/redaction/redact.ts'
import type { Db } from '../../store/db.ts'
import { listMerchants } from '../../store/merchants/merchants.ts'
import { type PaymentKey, paymentName } from '../../store/payments/paymentKeys.ts'
import {
  findTraces,
  notes,
  paymentRows,
  readTexts,
  replaceTexts,
  type Trace,
  withKeys,
} from '../../store/redaction/personTraces.ts'
import { audited } from '../access/audit.ts'
import { aliasesOfPerson, personEntry } from './person.ts'
import { erasePayments, type KeptBecause } from './redact.ts'

const readAtOnce = 2000 // rows
const changeAtOnce = 100 // in one transaction

// Where the erasure continues. Tables are read one after the other, each of all merchants. Texts come before the payments,
// because the names in payments are searched for in the texts: an erasure that was interrupted is complete when it is
// repeated.
export type ErasePlace = { table: number; merchant_id: string; behind: readonly string[] }
export type KeptPayment = PaymentKey & { because: KeptBecause | 'busy' } // busy: locked by a worker at that moment

export type Erasing = {
  person: Person
  patterns: { own: Patterns; texts: Patterns } // in texts, the person has other names too
  place: ErasePlace | undefined // undefined: finished
  done: { payments: number; texts: number }
  kept: KeptPayment[]
}

const tables = [...notes, ...paymentRows]
export const tablesToErase = tables.length

// Records that it begins, before anything is removed.
export async function beginErasing(db: Db, person: Person, actor: Actor, now: Date): Promise<Erasing> {
  await audited(db, actor, now, (_, record) => record(personEntry('person.erase', person, null)))
  const place = await firstOf(db, 0)
  const erasing = { person, place, done: { payments: 0, texts: 0 }, kept: [] }
  return resumeErasing(db, erasing, now)
}

// After an interruption of this process, or in the next request.
export async function resumeErasing(db: Db, erasing: Omit<Erasing, 'patterns'>, now: Date): Promise<Erasing> {
  const own = spellingOf(erasing.person)
  const aliases = await aliasesOfPerson(db, erasing.person, now)
  return { ...erasing, patterns: { own: patternsOf([own]), texts: patternsOf([own, ...aliases]) } }
}

// One bounded step. It may be repeated at any time, by another process, too. The last one records that it has ended.
export async function eraseStep(db: Db, erasing: Erasing, actor: Actor, now: Date): Promise<Erasing> {
  const { place, person } = erasing
  if (!place) return erasing
  const of = tables[place.table]
  if (!of) return erasing
  const isText = place.table < notes.length
  const pattern = (isText ? erasing.patterns.texts : erasing.patterns.own).rough
  const traces = await findTraces(db, of, { ...place, pattern, limit: readAtOnce })
  const found = traces.filter(({ is_found }) => is_found)
  const step = isText
    ? await eraseTexts(db, erasing, place, found)
    : await erasePaymentsOf(db, erasing, place.merchant_id, found, now)
  const next = {
    ...erasing,
    place: await placeAfter(db, place, traces),
    done: {
      payments: erasing.done.payments + step.payments,
      texts: erasing.done.texts + step.texts,
    },
    kept: withKept(erasing.kept, step),
  }
  if (!next.place)
    await audited(db, actor, now, (_, record) =>
      record(personEntry('person.erased', person, { ...next.done, kept: next.kept.length })),
    )
  return next
}

type Step = {
  payments: number
  texts: number
  kept: KeptPayment[]
  erased: PaymentKey[]
  untouched: PaymentKey[] // only the rough pattern was found
}

const nothingDone = (): Step => ({ payments: 0, texts: 0, kept: [], erased: [], untouched: [] })

// A text about something open is still needed, such as the note of a task: it stays until that is closed.
async function eraseTexts(
  db: Db,
  { patterns }: Erasing,
  place: ErasePlace,
  found: readonly Trace[],
): Promise<Step> {
  const of = tables[place.table] as (typeof tables)[number]
  const { merchant_id } = place
  const { exact } = patterns.texts
  const step = nothingDone()
  for (const some of inParts(found.filter(({ is_open }) => !is_open)))
    step.texts += await db.transaction(tx => replaceTexts(tx, of, merchant_id, withKeys(of, some), exact))
  for (const some of inParts(found.filter(({ is_open }) => is_open)))
    for (const { reference, texts } of await readTexts(db, of, merchant_id, withKeys(of, some)))
      if (reference && textsNaming(texts, exact) !== undefined)
        step.kept.push({ merchant_id, tx_reference: reference, because: openIn[of.table] ?? 'task' })
  return step
}

const inParts = <T>(all: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(all.length / changeAtOnce) }, (_, at) =>
    all.slice(at * changeAtOnce, (at + 1) * changeAtOnce),
  )

const openIn: Readonly<Record<string, KeptBecause>> = {
  tasks: 'task',
  refunds: 'refund',
  refund_approvals: 'refund',
  disputes: 'dispute',
}

async function erasePaymentsOf(
  db: Db,
  { person, patterns }: Erasing,
  merchant_id: string,
  found: readonly Trace[],
  now: Date,
): Promise<Step> {
  const references = [...new Set(found.flatMap(({ tx_reference }) => tx_reference ?? []))]
  const step = nothingDone()
  const exact = { person, own: patterns.own.exact, texts: patterns.texts.exact }
  for (const some of inParts(references)) {
    const results = new Map(
      (await erasePayments(db, merchant_id, some, exact, now)).map(one => [one.tx_reference, one] as const),
    )
    for (const tx_reference of some) {
      const key = { merchant_id, tx_reference }
      const result = results.get(tx_reference)
      if (!result || result.done === 'kept')
        step.kept.push({ ...key, because: result?.keptBecause ?? 'busy' })
      else (result.done === 'untouched' ? step.untouched : step.erased).push(key)
      if (result?.done === 'erased') step.payments++
      if (result?.done === 'changed') step.texts++
    }
  }
  return step
}

const maxKept = 200 // are listed, and carried by the form of the page

// A payment that was locked when one of its rows was found may be erased when the next one is, or turn out not to have the
// person. A note about it may still have the person.
function withKept(known: readonly KeptPayment[], { kept, erased, untouched }: Step) {
  const names = new Set(erased.map(paymentName))
  const without = new Set(untouched.map(paymentName))
  const all = new Map([...kept, ...known].map(one => [paymentName(one), one]))
  return [...all]
    .flatMap(([name, one]) => (names.has(name) || (one.because === 'busy' && without.has(name)) ? [] : [one]))
    .slice(0, maxKept)
}

async function placeAfter(
  db: Db,
  place: ErasePlace,
  traces: readonly Trace[],
): Promise<ErasePlace | undefined> {
  const last = traces.at(-1)
  if (last) return { ...place, behind: last.key }
  return (await nextMerchant(db, place.table, place.merchant_id)) ?? firstOf(db, place.table + 1)
}

const firstOf = async (db: Db, table: number) =>
  table < tables.length ? nextMerchant(db, table, '') : undefined

async function nextMerchant(db: Db, table: number, after: string): Promise<ErasePlace | undefined> {
  const ids = (await listMerchants(db)).map(({ merchant_id }) => merchant_id).toSorted()
  const merchant_id = ids.find(id => id > after)
  return merchant_id === undefined ? undefined : { table, merchant_id, behind: [] }
}
