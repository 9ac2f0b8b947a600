import { fill } from '../../../core/text.ts'
import { amountOf, figureOf, type View } from './view.ts'

// What is paid for, and that it adds up. Nothing where the shop has listed nothing.
export const LineItems = ({ view }: { view: View }) =>
  view.checkout.line_items && (
    <ul class="items" aria-label={view.t.items.title}>
      {view.checkout.line_items.map(({ name, quantity, total }) => (
        <li>
          <span>
            {quantity > 1 && `${fill(view.t.items.times, { quantity })} `}
            <bdi>{name}</bdi>
          </span>
          <span>{figureOf(view, total)}</span>
        </li>
      ))}
      <li class="sum">
        <span>{view.t.items.total}</span>
        <span>{amountOf(view)}</span>
      </li>
    </ul>
  )
