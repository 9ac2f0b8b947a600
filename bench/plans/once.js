// What several sections need and whichever comes first begins.
export function once(begin) {
  let begun
  return () => (begun ??= begin())
}
