import {
  type Attributes,
  type Context,
  context,
  createContextKey,
  INVALID_SPAN_CONTEXT,
  isSpanContextValid,
  type Link,
  ProxyTracerProvider,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  trace,
  TraceFlags,
} from '@opentelemetry/api'

// Spans of OpenTelemetry (docs/watching.md). The operator loads an SDK with `node --import`; without one, nothing here
// starts a span, and work runs as if it were called directly. Attributes have no personal data and no secret: no address
// of a request, because the path of a checkout opens it, and no text of an error, because it may quote a row.

const tracer = trace.getTracer('tollgate')
const withoutSdk = new ProxyTracerProvider().getDelegate()

// Whether an SDK is loaded.
export function isTraced(): boolean {
  const provider = trace.getTracerProvider()
  return !(provider instanceof ProxyTracerProvider) || provider.getDelegate() !== withoutSdk
}

const noSpan = trace.wrapSpanContext(INVALID_SPAN_CONTEXT)

type InSpan<T> = (span: Span) => Promise<T>

// Runs work in a span below `parent`, by default the active span. Without one the work is not traced.
export function inSpan<T>(
  name: string,
  options: SpanOptions & { parent?: Context },
  work: InSpan<T>,
): Promise<T> {
  const parent = options.parent ?? context.active()
  return trace.getSpan(parent) ? inNewSpan(name, options, parent, work) : work(noSpan)
}

// Like inSpan, but without a parent the span begins a new trace.
export function inNewSpan<T>(
  name: string,
  options: SpanOptions,
  parent: Context,
  work: InSpan<T>,
): Promise<T> {
  const span = tracer.startSpan(name, options, parent)
  return ended(
    [span],
    context.with(trace.setSpan(parent, span), () => work(span)),
  )
}

async function ended<T>(spans: readonly Span[], work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    for (const span of spans) markFailed(span, errorType(error))
    throw error
  } finally {
    for (const span of spans) span.end()
  }
}

// The code of a database error or refusal, or the class of the error.
const errorType = (error: unknown) =>
  String((error as { code?: unknown }).code ?? (error instanceof Error ? error.name : 'error'))

export function markFailed(span: Span, type: string) {
  span.setAttribute('error.type', type)
  span.setStatus({ code: SpanStatusCode.ERROR })
}

// Work of the database, as a span of each request or job that it is done for. Workers that look for work have no span, and a
// span that has ended is not that of this work: timers and loops keep the context in which they were started.
export function inDatabaseSpan<T>(name: string, kind: string, run: () => Promise<T>): Promise<T> {
  if (!isTraced()) return run()
  const parents = sharers().filter(parent => trace.getSpan(parent)?.isRecording())
  if (parents.length === 0) return run()
  const attributes: Attributes = {
    'db.system.name': 'postgresql',
    'db.operation.name': name,
    'tollgate.work': kind,
  }
  if (parents.length > 1) attributes['db.operation.batch.size'] = parents.length
  const options = { kind: SpanKind.CLIENT, attributes }
  return ended(
    parents.map(parent => tracer.startSpan(`postgresql ${name}`, options, parent)),
    run(),
  )
}

const sharing = createContextKey('tollgate.sharing')

const sharers = (active = context.active()) =>
  (active.getValue(sharing) as readonly Context[] | undefined) ?? [active]

// The context of a caller that waits for work which it shares with other callers. Undefined without an SDK.
export const callerContext = () => (isTraced() ? context.active() : undefined)

// Runs work for several callers at once: each of them gets its spans of the database.
export const runFor = <T>(callers: readonly (Context | undefined)[], run: () => T): T =>
  isTraced()
    ? context.with(
        ROOT_CONTEXT.setValue(
          sharing,
          callers.filter(one => one !== undefined),
        ),
        run,
      )
    : run()

export const withoutTrace = <T>(run: () => T): T => context.with(ROOT_CONTEXT, run)

// W3C Trace Context: https://www.w3.org/TR/trace-context/#traceparent-header
const traceparentPattern = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/

export function spanContextOf(traceparent: string | undefined): SpanContext | undefined {
  const [, traceId, spanId, flags] = traceparentPattern.exec(traceparent ?? '') ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined
  const found = {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED,
    isRemote: true,
  }
  return isSpanContextValid(found) ? found : undefined
}

export const contextOf = (parent: SpanContext) => trace.setSpanContext(ROOT_CONTEXT, parent)

// Of the request that is being answered. Null if it is not traced, or the sampler left it out.
export function activeTraceparent(): string | null {
  const found = trace.getSpan(context.active())?.spanContext()
  if (!found || !isSpanContextValid(found) || !(found.traceFlags & TraceFlags.SAMPLED)) return null
  return `00-${found.traceId}-${found.spanId}-01`
}

export const linksTo = (linked: SpanContext | undefined): Link[] => (linked ? [{ context: linked }] : [])
