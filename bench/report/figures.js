// Small arithmetic on lists of numbers.
export const sorted = list => Float64Array.from(list).sort()

export function quantile(ascending, q) {
  if (ascending.length === 0) return Number.NaN
  return ascending[Math.min(ascending.length - 1, Math.floor(q * ascending.length))]
}

export function median(list) {
  const ascending = sorted(list)
  const middle = ascending.length / 2
  return ascending.length % 2 === 1
    ? ascending[Math.floor(middle)]
    : (ascending[middle - 1] + ascending[middle]) / 2
}

// A ratio is only as good as its spread over the rounds, so the two are never parted.
export const spread = list => ({ median: median(list), min: Math.min(...list), max: Math.max(...list) })

export function summary(latenciesMs, measuredMs) {
  const ascending = sorted(latenciesMs)
  return {
    requests: ascending.length,
    rate: (ascending.length * 1000) / measuredMs,
    p50: quantile(ascending, 0.5),
    p99: quantile(ascending, 0.99),
  }
}
