// Gives up waiting, not the work itself: whoever has to stop that, too, does it in `stop`.
export async function within<T>(work: Promise<T>, ms: number, words: string, stop?: () => void): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      stop?.()
      reject(new Error(words))
    }, ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
