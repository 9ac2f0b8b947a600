import { send } from './merchant/merchant.ts'
import { asOperator } from './gateway/operatorAuth.ts'

export type Sample = { name: string; labels: Record<string, string>; value: number }

// What /metrics says, read as Prometheus reads it.
export async function readMetrics(url: string) {
  const { http, text } = await send(`${url}/metrics`, { headers: asOperator })
  if (http !== 200) throw new Error(`${http} ${text}`)
  const samples = text.split('\n').flatMap(readSample)
  const all = (name: string, labels: Record<string, string> = {}) =>
    samples.filter(
      sample =>
        sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
    )
  const sum = (name: string, labels?: Record<string, string>) =>
    all(name, labels).reduce((total, { value }) => total + value, 0)
  return { all, sum }
}

function readSample(line: string): Sample[] {
  const [, name, inside = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
  if (!name) return []
  const labels = [...inside.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, word]) => [key, word])
  return [{ name, labels: Object.fromEntries(labels), value: Number(value) }]
}
