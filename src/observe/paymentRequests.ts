import { type MinuteCounts, noDelays } from '../core/operator/minuteCounts.ts'
import type { Metrics } from './metrics.ts'

const route = '/v1/mobile_agents_v2'
const overloadedStatus = '503'

// Reads how fast payment requests were answered since the last call, and how many were refused for load.
export function paymentRequestReader({ seconds, requests }: Pick<Metrics, 'seconds' | 'requests'>) {
  let before = { delays: noDelays, refused: 0 }
  return async (): Promise<Pick<MinuteCounts, 'delays' | 'refused'> | undefined> => {
    const now = { delays: bucketsOf(await seconds.get()), refused: refusedOf(await requests.get()) }
    const delays = now.delays.map((count, at) => count - (before.delays[at] ?? 0))
    const refused = now.refused - before.refused
    before = now
    return delays.some(count => count > 0) || refused > 0 ? { delays, refused } : undefined
  }
}

type Values<Name extends string> = {
  values: readonly { value: number; labels: Partial<Record<Name, string | number>>; metricName?: string }[]
}

// Prometheus counts each request in all buckets above it.
function bucketsOf({ values }: Values<'route' | 'le'>): number[] {
  const cumulative = values
    .filter(({ labels, metricName }) => labels.route === route && metricName?.endsWith('_bucket'))
    .map(({ value }) => value)
  if (cumulative.length === 0) return [...noDelays]
  return cumulative.map((count, at) => count - (cumulative[at - 1] ?? 0))
}

const refusedOf = ({ values }: Values<'route' | 'status'>) =>
  values
    .filter(({ labels }) => labels.route === route && String(labels.status) === overloadedStatus)
    .reduce((sum, { value }) => sum + value, 0)
