import { initialsOf } from '../../../core/merchant/initials.ts'

// The shop's sign beside its name.
export const Mark = ({ name }: { name: string }) => (
  <span class="mark" aria-hidden="true">
    {initialsOf(name)}
  </span>
)

// Whom to ask, and what the shop promises.
export const Contact = () => <div class="contact"></div>
