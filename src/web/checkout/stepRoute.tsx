import { submit } from '../../actions/payments/submit.ts'
import type { Fault } from '../../core/channel/formFields.ts'
import type { FormField } from '../../core/channel/way.ts'
import type { Fields } from '../../core/interface/json.ts'
import { ghanaNumbers } from '../../core/phone.ts'
import { fill, unbroken } from '../../core/text.ts'
import type { Ctx } from '../http/context.ts'
import { type CheckoutOptions, goTo } from './open.tsx'
import { attemptOf, linkTo, type View } from './page/view.ts'
import { textsIn } from './payRoute.tsx'
import { show } from './show.ts'
import { askWords, type FormFault } from './stages/form.ts'
import { StepPage } from './stages/step.tsx'
import { onVisit } from './visit.ts'

// What the customer typed at a step of the provider. The page that follows shows what came of it; what is wrong with it
// comes back, codes without what was typed.
export const stepRoute =
  ({ runtime }: CheckoutOptions) =>
  async (c: Ctx, view: View, fields: Fields, deadline: number) => {
    const typed = textsIn(fields)
    const made = madeFor(fields)
    if (!made || view.checkout.stage !== 'step') return goTo(c, linkTo(view))
    const submitting = await submit(runtime, view.checkout, { ...made, typed }, deadline)
    if (submitting.done === 'faults') return formAgain(c, view, typed, submitting.faults)
    if (submitting.done === 'too_soon') return waitFirst(c, view, typed, submitting.waitMs)
    return goTo(c, linkTo(view))
  }

const isCount = (word: unknown): word is string => typeof word === 'string' && /^\d{1,4}$/.test(word)

// The attempt, and how often something was typed for it, when the page was made: an old page submits nothing.
function madeFor({ number, submits }: Fields): { number: number; submits: number } | undefined {
  return isCount(number) && isCount(submits)
    ? { number: Number(number), submits: Number(submits) }
    : undefined
}

// Nothing was submitted: the page says how long to wait, which it computes from the attempt.
function waitFirst(c: Ctx, view: View, typed: Record<string, string>, waitMs: number) {
  const attempt = attemptOf(view)
  if (!attempt?.step) return goTo(c, linkTo(view))
  const form = { typed: typedAgain(attempt.step.fields, typed), faults: [] }
  const page = <StepPage view={onVisit(view)} attempt={attempt} step={attempt.step} form={form} />
  return show(c, page, 429, { 'retry-after': String(Math.ceil(waitMs / 1000)) })
}

function formAgain(c: Ctx, view: View, typed: Record<string, string>, faults: readonly Fault[]) {
  const attempt = attemptOf(view)
  if (!attempt?.step) return goTo(c, linkTo(view))
  const { step } = attempt
  const form = {
    typed: typedAgain(step.fields, typed),
    faults: faults.map(fault => inWords(view, step.fields, fault)),
  }
  return show(c, <StepPage view={onVisit(view)} attempt={attempt} step={step} form={form} />, 422)
}

// What was typed where a code belongs may be somebody's PIN, or a code that still opens something: it stands in no page.
// It is short, and lies before whoever typed it.
const typedAgain = (fields: readonly FormField[], typed: Record<string, string>) =>
  Object.fromEntries(
    fields.flatMap(({ name, kind }) => (kind === 'digits' ? [] : [[name, typed[name] ?? '']])),
  )

function inWords({ t, lang }: View, fields: readonly FormField[], { field, fault }: Fault): FormFault {
  const ask = fields.find(({ name }) => name === field)
  const label = ask ? askWords(ask, t, lang).label : field
  return {
    field,
    words: fill(t.faults[fault], { label, way: '', country: '', example: unbroken(ghanaNumbers.example) }),
  }
}
