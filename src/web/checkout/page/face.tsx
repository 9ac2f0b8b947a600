import type { Texts } from '../../../core/languages/en.ts'
import type { Face } from '../../../core/merchant/face.ts'
import { initialsOf } from '../../../core/merchant/initials.ts'
import { writePhone } from '../../../core/phone.ts'

// The shop's sign beside its name, which says the same to the ear.
export const Mark = ({ name, face = {} }: { name: string; face?: Face }) =>
  face.logo ? (
    <img class="mark logo" src={face.logo} width="40" height="40" alt="" />
  ) : (
    <span class="mark" aria-hidden="true">
      {initialsOf(name)}
    </span>
  )

// Whom a customer asks, and what the shop promises. On a desk it ends the column of the shop, with or without words.
export const Contact = ({ face = {}, t }: { face?: Face; t: Texts }) => {
  const { support_phone, support_email, terms_url, refunds } = face
  return (
    <div class="contact">
      {(support_phone || support_email) && (
        <p>
          {t.face.questions}
          {support_phone && <a href={`tel:${support_phone}`}>{writePhone(support_phone)}</a>}
          {support_email && <a href={`mailto:${support_email}`}>{support_email}</a>}
        </p>
      )}
      {(refunds || terms_url) && (
        <p>
          {refunds && <bdi>{refunds}</bdi>}
          {terms_url && (
            <a href={terms_url} target="_blank" rel="noopener noreferrer">
              {t.face.terms}
            </a>
          )}
        </p>
      )}
    </div>
  )
}
