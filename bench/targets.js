// What we want to reach, beside what was measured.
const memoryLimitMb = 250

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

export function memoryTarget(gateways) {
  const megabytes = Math.max(...gateways.map(gateway => gateway.peakMemoryMb()))
  return {
    name: 'Most memory of (c) under load',
    wanted: `below ${memoryLimitMb}`,
    reached: megabytes < memoryLimitMb,
    megabytes,
  }
}
