import { type Child, type Markup, raw, written } from './jsx-runtime.ts'

const mostKept = 500 // of one kind about one thing, such as a language; then the oldest goes

type Plain = string | number | boolean | null | undefined
type Drawn = { first: string; rest: readonly { gap: string; text: string }[] }

// Markup that is the same on many pages but for a few values is drawn once. Whoever draws it sees only what it is kept
// by: `about`, which nobody changes, by being that very thing, and `facts` by what they say. So it is never out of date,
// and nothing of one payment stays for the next: where a value belongs there is a gap, and each page fills in its own.
// A gap inside an attribute takes text.
export function kept<About extends object, Facts extends Readonly<Record<string, Plain>>>(
  draw: (about: About, facts: Facts, gap: (name: string) => string) => Child,
) {
  const known = new WeakMap<About, Map<string, Drawn>>()
  return (about: About, facts: Facts, values: Readonly<Record<string, Child>>): Markup => {
    const all = known.get(about) ?? new Map<string, Drawn>()
    const key = JSON.stringify(facts)
    let drawn = all.get(key)
    if (!drawn) {
      drawn = takenApart(written(draw(about, facts, gapFor)))
      known.set(about, keep(all, key, drawn))
    }
    return filledIn(drawn, values)
  }
}

function filledIn({ first, rest }: Drawn, values: Readonly<Record<string, Child>>): Markup {
  let html = first
  for (const { gap, text } of rest) html += written(values[gap]) + text
  return raw(html)
}

// By a character that no text of a stranger has: it cannot be stored.
const gapFor = (name: string) => `\u0000${name}\u0000`

function takenApart(html: string): Drawn {
  const [first = '', ...others] = html.split('\u0000')
  const rest = []
  for (let at = 0; at < others.length; at += 2)
    rest.push({ gap: others[at] ?? '', text: others[at + 1] ?? '' })
  return { first, rest }
}

function keep(all: Map<string, Drawn>, key: string, drawn: Drawn): Map<string, Drawn> {
  if (all.size >= mostKept) all.delete(all.keys().next().value as string)
  return all.set(key, drawn)
}
