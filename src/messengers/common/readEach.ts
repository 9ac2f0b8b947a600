// Reads settings that do not depend on each other, so that all that is wrong with them is told at once.
export function readEach<T>(readers: { [Name in keyof T]: () => T[Name] }): T {
  const faults: Error[] = []
  const read: Partial<T> = {}
  for (const name in readers) {
    try {
      read[name] = readers[name]()
    } catch (error) {
      faults.push(error as Error)
    }
  }
  if (faults.length > 0) throw new AggregateError(faults, faults.map(({ message }) => message).join(' '))
  return read as T
}
