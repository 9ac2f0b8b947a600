const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

const firstOf = (word: string) => graphemes.segment(word)[Symbol.iterator]().next().value?.segment ?? ''

// What stands in for a logo: the first letters of the first two words. Signs before a word do not count, and a script
// without capitals gives one letter: two of them would make another word. A name of pictures gives its first.
export function initialsOf(name: string): string {
  const words = name
    .normalize('NFC')
    .split(/\s+/)
    .map(word => firstOf(word.replace(/^[^\p{L}\p{N}]+/u, '')))
    .filter(Boolean)
  const [one = firstOf(name.replace(/^[\p{C}\s]+/u, '')), two = ''] = words
  return /^[\p{Lu}\p{Ll}\p{Lt}\p{N}]/u.test(one) ? (one + two).toLocaleUpperCase('en') : one
}
