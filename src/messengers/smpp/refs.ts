const maxKnown = 30_000 // keys, three of each id

type Form = 'same' | 'hexToDecimal' | 'decimalToHex' // from the receipt's form to that of the answer

// The id of a message in the answer to its submit may be hexadecimal and in its receipt decimal, or the other way
// round, with zeros before it or not. Which, an SMS centre does not say; it is learned from the ids that fit in one
// form alone.
export function openRefs() {
  const known = new Map<string, string>() // by its text, and by its value in either reading
  let learned: Form = 'same'

  function add(ref: string) {
    for (const key of [sameKey(ref), keyOf('hexToDecimal', 10, ref), keyOf('decimalToHex', 16, ref)])
      if (key) known.set(key, ref)
    for (const key of known.keys()) {
      if (known.size <= maxKnown) return
      known.delete(key)
    }
  }

  // As the answer had it, where we know that; otherwise as the receipt has it.
  function find(id: string): string {
    const fits = new Map<Form, string>()
    for (const [form, key] of [
      ['same', sameKey(id)],
      ['hexToDecimal', keyOf('hexToDecimal', 16, id)],
      ['decimalToHex', keyOf('decimalToHex', 10, id)],
    ] as const) {
      const ref = key && known.get(key)
      if (ref) fits.set(form, ref)
    }
    const [only] = fits.keys()
    if (only && fits.size === 1) learned = only
    return fits.get(learned) ?? fits.values().next().value ?? id
  }

  return { add, find }
}

const sameKey = (id: string) => `same ${id.replace(/^0+(?=.)/, '').toLowerCase()}`

function keyOf(form: Form, base: 10 | 16, id: string): string | undefined {
  if (!(base === 10 ? /^\d+$/ : /^[\da-f]+$/i).test(id)) return undefined
  return `${form} ${BigInt(base === 10 ? id : `0x${id}`)}`
}
