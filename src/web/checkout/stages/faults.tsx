import { Icon } from '../../../core/markup/page.tsx'
import { fill } from '../../../core/text.ts'
import type { View } from '../view.ts'
import type { FormFault } from './form.ts'

type FaultsProps = { view: View; faults: readonly FormFault[]; first?: string }

// How many faults a form has that is shown again, with a link to each. The script moves the focus there. Each fault is
// explained at its field, so here only a screen reader gets the whole text. `first` is the id of the first field.
export const Faults = ({ view: { t }, faults, first = '' }: FaultsProps) => {
  const [only] = faults
  return (
    <section class="notice bad" role="alert" tabindex={-1} id="faults">
      <Icon name="alert" />
      {faults.length === 1 && only ? (
        <FaultLink fault={only} first={first} words={t.faults.title} />
      ) : (
        <div>
          <p>
            <strong>{fill(t.faults.title_many, { count: faults.length })}</strong>
          </p>
          <ul>
            {faults.map(fault => (
              <li>
                <FaultLink fault={fault} first={first} words={fault.label} />
              </li>
            ))}
          </ul>
        </div>
      )}
    </section>
  )
}

type FaultLinkProps = { fault: FormFault; first: string; words?: string }

const FaultLink = ({ fault: { field, text }, first, words }: FaultLinkProps) => (
  <a href={`#${field || first}`}>
    {words ? (
      <>
        {words}
        <span class="sr">. {text}</span>
      </>
    ) : (
      text
    )}
  </a>
)
