import { Sentence } from '../../../core/markup/page.tsx'
import { stripBidiControls } from '../../../core/text.ts'
import { type AttemptProps, methodLabel, methodOf } from '../view.ts'

type InstructionProps = AttemptProps & { text: string | null | undefined; isUnknown?: boolean }

// The page says in its own words what a provider wants. The provider's text is shown only if it has what the page cannot
// know: another code to dial, or what an unknown field (`isUnknown`) means. It is marked as the provider's.
export const ProviderInstruction = ({ view, attempt, text, isUnknown = false }: InstructionProps) => {
  const known = methodOf(view, attempt.payment_method)?.dial?.code
  if (!text || !(isUnknown || hasOtherCode(text, known))) return null
  return (
    <p class="note">
      <Sentence text={view.t.step.provider_text} method={methodLabel(view, attempt.payment_method)} />{' '}
      <bdi>{stripBidiControls(text)}</bdi>
    </p>
  )
}

const dialCode = /\*\d[\d*]{1,20}#/g

const hasOtherCode = (text: string, known: string | undefined) =>
  (text.match(dialCode) ?? []).some(code => code !== known)
