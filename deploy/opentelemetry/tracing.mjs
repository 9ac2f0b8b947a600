// Sends the traces of a node to a collector, by OTLP over HTTP. Load it before the program: docs/watching.md has the commands.
// OTEL_EXPORTER_OTLP_ENDPOINT names the collector (http://localhost:4318 by default), OTEL_SERVICE_NAME the service, and
// OTEL_TRACES_SAMPLER with OTEL_TRACES_SAMPLER_ARG the share of payments that are traced.
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node'

const provider = new NodeTracerProvider({
  resource: resourceFromAttributes({ 'service.name': process.env.OTEL_SERVICE_NAME ?? 'tollgate' }),
  spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
})
provider.register()

// After the node has stopped: sends what has not been sent.
process.once('beforeExit', () => void provider.shutdown().catch(() => {}))
