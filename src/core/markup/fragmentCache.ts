import { type Child, type Markup, raw, written } from './jsx-runtime.ts'

const maxEntries = 500 // for one subject, such as a language; then the oldest entry is dropped

type Plain = string | number | boolean | null | undefined
type Fragment = { first: string; rest: readonly { gap: string; text: string }[] }

// Renders markup that is the same on many pages except for a few values, and caches it. The cache key is everything
// that `render` sees: `subject` by identity, because it never changes, and `facts` by value. So an entry is never
// stale. Values of one payment never enter the cache: `render` leaves a gap for each, and every page fills its own
// values in. A gap inside an attribute takes only text.
export function cachedFragment<Subject extends object, Facts extends Readonly<Record<string, Plain>>>(
  render: (subject: Subject, facts: Facts, gap: (name: string) => string) => Child,
) {
  const bySubject = new WeakMap<Subject, Map<string, Fragment>>()
  return (subject: Subject, facts: Facts, values: Readonly<Record<string, Child>>): Markup => {
    const entries = bySubject.get(subject) ?? new Map<string, Fragment>()
    const key = JSON.stringify(facts)
    let fragment = entries.get(key)
    if (!fragment) {
      fragment = splitAtGaps(written(render(subject, facts, gapMark)))
      if (entries.size >= maxEntries) entries.delete(entries.keys().next().value as string)
      bySubject.set(subject, entries.set(key, fragment))
    }
    return fillGaps(fragment, values)
  }
}

function fillGaps({ first, rest }: Fragment, values: Readonly<Record<string, Child>>): Markup {
  let html = first
  for (const { gap, text } of rest) html += written(values[gap]) + text
  return raw(html)
}

// NUL marks a gap: PostgreSQL cannot store it, so no text of a merchant or customer contains it.
const gapMark = (name: string) => `\u0000${name}\u0000`

function splitAtGaps(html: string): Fragment {
  const [first = '', ...others] = html.split('\u0000')
  const rest = []
  for (let at = 0; at < others.length; at += 2)
    rest.push({ gap: others[at] ?? '', text: others[at + 1] ?? '' })
  return { first, rest }
}
