// One page of metrics from those of several processes, in the text format of Prometheus, where all samples of a metric
// stand together below its HELP and TYPE lines. Each process has its own label, so no two samples are the same.
export function mergeMetrics(pages: readonly string[]): string {
  const metrics = new Map<string, string[]>() // samples by the two lines above them
  for (const page of pages)
    for (const metric of page.split(/^(?=# HELP )/m).filter(text => text.startsWith('#'))) {
      const [help, type, ...samples] = metric.trimEnd().split('\n')
      const head = `${help}\n${type}`
      metrics.set(head, [...(metrics.get(head) ?? []), ...samples])
    }
  return [...metrics].map(([head, samples]) => [head, ...samples, ''].join('\n')).join('\n')
}
