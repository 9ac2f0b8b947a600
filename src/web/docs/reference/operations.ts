import type { Json } from '../../openapi/requestSchema.ts'

// The operations of the OpenAPI document, in the form in which the reference shows them. Whatever is added to the
// document appears in the reference by itself.
export type ApiDocument = {
  info: { description: string }
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, Json>>
  webhooks: Record<string, Record<string, Json>>
  components: { schemas: Record<string, Json> }
}

export type ApiOperationView = {
  id: string
  tag: string
  method: string
  path: string // empty for a request that the gateway sends
  summary: string
  description: string
  fields: readonly FieldView[]
  bodyExamples: Record<string, unknown>
  responses: readonly ResponseView[]
  signature?: SignatureScheme
}

export type FieldView = {
  name: string
  place: 'query' | 'path' | 'header' | 'body'
  type: string
  isRequired: boolean
  isAlias: boolean
  description: string
  example?: unknown
}

export type ResponseView = {
  http: string
  description: string
  codes: readonly string[]
  shapes: readonly { name: string; fields: readonly FieldView[] }[]
  examples: Record<string, unknown>
}

// What the signature covers: three fields of a payment request, two of a status check, four of a refund, two of its check,
// the parameters of the feed with the time, or all fields with the time.
export type SignatureScheme = 'request' | 'status' | 'refund' | 'refund_check' | 'feed' | 'fields'

export function operationsOf(document: ApiDocument): ApiOperationView[] {
  const { schemas } = document.components
  const ofPaths = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => viewOf(operation, method, path, schemas)),
  )
  const sent = Object.values(document.webhooks).flatMap(methods =>
    Object.entries(methods).map(([method, operation]) => viewOf(operation, method, '', schemas)),
  )
  return [...ofPaths, ...sent]
}

type Schemas = Record<string, Json>
type Media = { schema?: Json; example?: unknown; examples?: Record<string, { value: unknown }> }
type Parameter = {
  name: string
  in: FieldView['place']
  required?: boolean
  deprecated?: boolean
  description?: string
  schema: Json
  example?: unknown
}

function viewOf(operation: Json, method: string, path: string, schemas: Schemas): ApiOperationView {
  const parameters = (operation.parameters ?? []) as Parameter[]
  const content = ((operation.requestBody as Json | undefined)?.content ?? {}) as Record<string, Media>
  const body = content['application/json']
  const fields = [
    ...parameters.map(parameter => parameterView(parameter)),
    ...(body?.schema ? fieldsOf(body.schema, schemas) : []),
  ]
  return {
    id: String(operation.operationId),
    tag: (operation.tags as string[])[0] ?? '',
    method: method.toUpperCase(),
    path,
    summary: String(operation.summary),
    description: String(operation.description ?? ''),
    fields,
    bodyExamples: examplesOf(body),
    responses: responsesOf(operation.responses as Record<string, Json>, schemas),
    signature: path === '' ? undefined : schemeOf(fields),
  }
}

function schemeOf(fields: readonly FieldView[]): SignatureScheme | undefined {
  const has = (name: string) => fields.some(field => field.name === name)
  if (has('x-tollgate-signature')) return 'feed'
  if (!has('secure_hash')) return undefined
  if (has('time')) return 'fields'
  if (has('refund_id')) return has('amount') ? 'refund' : 'refund_check'
  return has('total') ? 'request' : 'status'
}

const parameterView = (parameter: Parameter): FieldView => ({
  name: parameter.name,
  place: parameter.in,
  type: typeWords(parameter.schema),
  isRequired: parameter.required === true,
  isAlias: parameter.deprecated === true,
  description: parameter.description ?? '',
  example: parameter.example,
})

const nameOfRef = (reference: unknown) => String(reference).split('/').at(-1) ?? ''

function resolve(schema: Json, schemas: Schemas): Json {
  if (schema.$ref) return schemas[nameOfRef(schema.$ref)] ?? {}
  const [first] = (schema.allOf ?? []) as Json[]
  return first?.$ref ? resolve(first, schemas) : schema
}

function fieldsOf(schema: Json, schemas: Schemas): FieldView[] {
  const { properties = {}, required = [], patternProperties = {} } = resolve(schema, schemas)
  const named = Object.entries(properties as Record<string, Json>).map(([name, field]) => ({
    name,
    place: 'body' as const,
    type: typeWords(field),
    isRequired: (required as string[]).includes(name),
    isAlias: field.deprecated === true,
    description: String(field.description ?? ''),
    example: (field.examples as unknown[] | undefined)?.[0],
  }))
  const [own] = Object.values(patternProperties as Record<string, Json>).filter(field => field.description)
  if (!own) return named
  const extra = { name: 'extra_…', place: 'body', type: typeWords(own), isRequired: false } as const
  return [...named, { ...extra, isAlias: false, description: String(own.description) }]
}

const formatWords: Record<string, string> = { 'date-time': 'date and time', uri: 'address' }

// A schema in a few words. The exact patterns are in the OpenAPI document.
export function typeWords(schema: Json): string {
  if (schema.$ref) return nameOfRef(schema.$ref)
  if (Array.isArray(schema.enum)) return enumWords(schema.enum)
  if ('const' in schema) return JSON.stringify(schema.const)
  const choices = (schema.anyOf ?? schema.oneOf) as Json[] | undefined
  if (choices) return [...new Set(choices.map(choice => typeWords(choice)).filter(Boolean))].join(' or ')
  const types = [schema.type ?? []].flat().filter(type => type !== 'null')
  const words = types.map(type => (type === 'string' ? 'text' : String(type)))
  const limits = [
    schema.format && formatWords[String(schema.format)],
    typeof schema.maxLength === 'number' && `at most ${schema.maxLength} characters`,
    typeof schema.minimum === 'number' && typeof schema.maximum === 'number' && schema.maximum < 1e9
      ? `${schema.minimum} to ${schema.maximum}`
      : '',
  ].filter(Boolean)
  return [words.join(' or '), ...limits].filter(Boolean).join(', ')
}

function enumWords(values: readonly unknown[]): string {
  const shown = values.filter(value => value !== '' && value !== null)
  return shown.length > 12 ? `one of ${shown.length} values` : shown.map(value => String(value)).join(', ')
}

function examplesOf(media: Media | undefined): Record<string, unknown> {
  if (media?.example !== undefined) return { example: media.example }
  return Object.fromEntries(Object.entries(media?.examples ?? {}).map(([name, { value }]) => [name, value]))
}

function responsesOf(responses: Record<string, Json>, schemas: Schemas): ResponseView[] {
  return Object.entries(responses).map(([http, response]) => {
    const description = String(response.description)
    const content = (response.content ?? {}) as Record<string, Media>
    const json = content['application/json']
    const text = content['text/plain']
    const codes = new Set([...description.matchAll(/\bGW-\d{3}\b/g)].map(([code]) => code))
    for (const code of Object.keys(json?.examples ?? {}))
      if (/^(GW-\d{3}|internal)$/.test(code)) codes.add(code)
    return {
      http,
      description,
      codes: [...codes],
      shapes: shapesOf(json?.schema, schemas),
      examples: { ...examplesOf(json), ...examplesOf(text) },
    }
  })
}

function shapesOf(schema: Json | undefined, schemas: Schemas) {
  const choices = (schema?.anyOf ?? [schema]) as (Json | undefined)[]
  return choices
    .filter(choice => choice?.$ref)
    .map(choice => ({ name: nameOfRef(choice?.$ref), fields: fieldsOf(choice as Json, schemas) }))
}
