import type { Checkout } from '../../actions/payments/openCheckout.ts'
import { type Contacts, maskContacts } from '../../core/mask.ts'
import { withoutTurns } from '../../core/text.ts'

// A payment as its pages draw it. What the shop wrote turns no letters around, in the title of the window neither. The
// link may be passed on, so texts of the shop and of the provider show the customer's number and email address masked.
export function drawn(checkout: Checkout): Checkout {
  const contacts = contactsOf(checkout)
  const text = (given: string) => maskContacts(given, contacts)
  return {
    ...checkout,
    merchant_name: withoutTurns(checkout.merchant_name),
    payment_reference: checkout.payment_reference && withoutTurns(checkout.payment_reference),
    description: checkout.description && text(withoutTurns(checkout.description)),
    line_items: checkout.line_items?.map(item => ({ ...item, name: text(withoutTurns(item.name)) })) ?? null,
    face: {
      ...checkout.face,
      ...(checkout.face.refunds && { refunds: withoutTurns(checkout.face.refunds) }),
    },
    attempts: checkout.attempts.map(attempt => ({
      ...attempt,
      provider_text: attempt.provider_text && text(attempt.provider_text),
      step: attempt.step && {
        ...attempt.step,
        ...(attempt.step.text && { text: text(attempt.step.text) }),
      },
    })),
  }
}

function contactsOf({ number, pymt_instrument, email, attempts }: Checkout): Contacts {
  const phones = [number, pymt_instrument, ...attempts.map(({ instrument }) => instrument)]
  const emails = [email, ...attempts.map(({ given }) => given.email)]
  return {
    phones: [...new Set(phones)].filter(phone => phone?.startsWith('+')) as string[],
    emails: [...new Set(emails)].filter(Boolean) as string[],
  }
}
