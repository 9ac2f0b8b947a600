import type { Face } from '../../../core/merchant/face.ts'
import { writePhone } from '../../../core/phone.ts'
import type { Texts } from '../texts/en.ts'

// Beside the shop's name, which says the same to the ear.
export const Logo = ({ face }: { face?: Face }) =>
  face?.logo ? <img class="logo" src={face.logo} width="40" height="40" alt="" /> : null

// Whom a customer asks, and what the shop promises. Nothing where it has said nothing.
export const Contact = ({ face = {}, t }: { face?: Face; t: Texts }) => {
  const { support_phone, support_email, terms_url, refunds } = face
  return (
    <>
      {(support_phone || support_email) && (
        <p class="contact">
          {t.face.questions}
          {support_phone && <a href={`tel:${support_phone}`}>{writePhone(support_phone)}</a>}
          {support_email && <a href={`mailto:${support_email}`}>{support_email}</a>}
        </p>
      )}
      {(refunds || terms_url) && (
        <p class="contact">
          {refunds && <bdi>{refunds}</bdi>}
          {terms_url && (
            <a href={terms_url} target="_blank" rel="noopener noreferrer">
              {t.face.terms}
            </a>
          )}
        </p>
      )}
    </>
  )
}
