import { fill } from '../../../core/text.ts'
import { amountOf, figureOf, type View } from './view.ts'

// What is paid for, and that it adds up. Nothing where the shop has listed nothing.
export const LineItems = ({ view: { checkout, t } }: { view: View }) =>
  checkout.line_items && (
    <ul class="items" aria-label={t.items.title}>
      {checkout.line_items.map(({ name, quantity, total }) => (
        <li>
          <span>
            {quantity > 1 && `${fill(t.items.times, { quantity })} `}
            <bdi>{name}</bdi>
          </span>
          <span>{figureOf(total)}</span>
        </li>
      ))}
      <li class="sum">
        <span>{t.items.total}</span>
        <span>{amountOf(checkout)}</span>
      </li>
    </ul>
  )
