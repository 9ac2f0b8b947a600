// What we want to reach, beside what was measured.
const memoryLimitMb = 250
const weightLimit = 14_000 // bytes: what a server may send before it first has to wait for the other side

export const ratioTargets = ({ title, ratios }) =>
  ratios
    .filter(ratio => ratio.atLeast !== undefined || ratio.atMost !== undefined)
    .map(({ atLeast, atMost, name, median, min, max }) => ({
      name: `${title}: ${name}`,
      wanted: atLeast === undefined ? `at most ${atMost}` : `at least ${atLeast}`,
      reached: atLeast === undefined ? median <= atMost : median >= atLeast,
      median,
      min,
      max,
    }))

export const limitTargets = ({ title, limits }) =>
  limits.map(({ name, below, always, median, min, max }) => ({
    name: `${title}: ${name}`,
    wanted: `below ${below}`,
    reached: (always ? max : median) < below, // in each round, or in the middle of them
    median,
    min,
    max,
    digits: 0,
  }))

export function memoryTargets(gateways) {
  if (gateways.length === 0) return [] // left out by --only
  const megabytes = Math.max(...gateways.map(gateway => gateway.peakMemoryMb()))
  return [
    {
      name: 'Most memory of (c) under load',
      wanted: `below ${memoryLimitMb}`,
      reached: megabytes < memoryLimitMb,
      megabytes,
    },
  ]
}

const sum = numbers => numbers.reduce((all, n) => all + n, 0)

export const weightOf = files => ({
  name: 'in all',
  bodyBytes: sum(files.map(file => file.bodyBytes)),
  headBytes: sum(files.map(file => file.headBytes)),
})

// Of a page with all its files, compressed, without the headers.
export const weightTargets = ({ title, files }) => {
  if (!files) return []
  const bytes = weightOf(files).bodyBytes
  return [
    {
      name: `${title}: all its files`,
      wanted: `at most ${weightLimit / 1000} kB`,
      reached: bytes <= weightLimit,
      bytes,
    },
  ]
}
