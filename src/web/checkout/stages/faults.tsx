import { fill } from '../../../core/text.ts'
import type { View } from '../page/view.ts'
import type { FormFault } from './form.ts'

type FaultsProps = { view: View; faults: readonly FormFault[]; first?: string }

// What is wrong with a form that came back, above it; the script leads there. `first` is where the form itself begins.
export const Faults = ({ view: { t }, faults, first = '' }: FaultsProps) => (
  <section class="card bad" role="alert" tabindex={-1} id="faults">
    <p>
      <strong>
        {faults.length === 1 ? t.faults.title : fill(t.faults.title_many, { count: faults.length })}
      </strong>
    </p>
    <ul>
      {faults.map(({ field, words }) => (
        <li>
          <a href={`#${field || first}`}>{words}</a>
        </li>
      ))}
    </ul>
  </section>
)
