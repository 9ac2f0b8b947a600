import type { Described, Operation } from './document.ts'
import type { Answered } from './send.ts'

// What about an answer the document does not say; nothing, when all is well.
export function complaints(described: Described, operation: Operation, answer: Answered): string[] {
  const { http, type, text, headers } = answer
  if (http >= 500 && http !== 503) return [`answers ${http}`]
  const response = operation.responses[http]
  if (!response) return [`answers ${http}, which is not described`]
  const told: string[] = []
  for (const [name, { schema }] of Object.entries(response.headers ?? {})) {
    const value = headers[name]
    if (value === undefined) told.push(`has no header ${name}`)
    else if (schema.type !== 'integer') told.push(...faults(described, schema, value))
    else if (!/^\d+$/.test(String(value))) told.push(`has ${name}: ${String(value)}`)
  }
  return [...told, ...complaintsAboutBody(described, response.content ?? {}, type, text)]
}

type Content = NonNullable<Operation['responses'][string]['content']>

function complaintsAboutBody(described: Described, content: Content, type: string, text: string): string[] {
  if (type === '') return text === '' && Object.keys(content).length === 0 ? [] : ['has no content type']
  const media = content[type]
  if (!media) return [`has the content type ${type}, which is not described`]
  if (type !== 'application/json') return faults(described, media.schema, text)
  try {
    return faults(described, media.schema, JSON.parse(text))
  } catch {
    return ['is not JSON']
  }
}

function faults(described: Described, schema: object, value: unknown): string[] {
  const fault = described.faults(schema, value)
  return fault ? [fault] : []
}
