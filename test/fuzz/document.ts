import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'

// What /openapi.json says, as far as a stranger needs it to ask and to judge the answers.
export type Schema = Record<string, any>
export type Rule = { name: string; http: number; code: string; field?: string; rule: string }
export type Parameter = { name: string; in: 'query' | 'path' | 'header'; required?: boolean; schema: Schema }
type Media = { schema: Schema }
export type Response = { headers?: Record<string, Schema>; content?: Record<string, Media> }

export type Operation = {
  path: string
  method: string
  operationId: string
  parameters: Parameter[]
  body?: Record<string, Media> // by media type
  responses: Record<string, Response>
  rules: Rule[]
  takesToken: boolean
}

export type Described = {
  operations: Operation[]
  resolved(schema: Schema): Schema
  fits(schema: Schema, value: unknown): boolean
  faults(schema: Schema, value: unknown): string
}

export async function readDescription(url: string): Promise<Described> {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as Schema
  const ajv = new Ajv2020({ strict: false, multipleOfPrecision: 6, formats })
  ajv.addSchema(document, 'openapi')
  const compiled = new Map<Schema, ValidateFunction>()

  function validatorOf(schema: Schema): ValidateFunction {
    const known = compiled.get(schema)
    if (known) return known
    const made = ajv.compile(withWholeReferences(schema))
    compiled.set(schema, made)
    return made
  }

  const resolved = (schema: Schema): Schema => (schema.$ref ? resolved(at(document, schema.$ref)) : schema)

  return {
    operations: operationsOf(document, resolved),
    resolved,
    fits: (schema, value) => validatorOf(schema)(value),
    faults(schema, value) {
      const validate = validatorOf(schema)
      return validate(value) ? '' : ajv.errorsText(validate.errors)
    },
  }
}

// Answers are told in UTC to the millisecond; a location may be without a host.
const formats = {
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/,
  uri: (text: string) => URL.canParse(text),
  'uri-reference': (text: string) => URL.canParse(text, 'http://localhost'),
}

const at = (document: Schema, reference: string): Schema =>
  reference
    .split('/')
    .slice(1)
    .reduce((place, step) => place[step] as Schema, document)

const withWholeReferences = (schema: Schema): Schema =>
  JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"openapi#/'))

function operationsOf(document: Schema, resolved: (schema: Schema) => Schema): Operation[] {
  return Object.entries(document.paths as Record<string, Record<string, Schema>>).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      path,
      method: method.toUpperCase(),
      operationId: operation.operationId,
      parameters: operation.parameters ?? [],
      body: operation.requestBody?.content,
      responses: Object.fromEntries(
        Object.entries(operation.responses as Record<string, Schema>).map(([http, response]) => [
          http,
          withHeaders(resolved(response), resolved),
        ]),
      ),
      rules: operation['x-further-rules'] ?? [],
      takesToken: (operation.security ?? []).some((way: Schema) => Object.keys(way).length > 0),
    })),
  )
}

const withHeaders = (response: Schema, resolved: (schema: Schema) => Schema): Response => ({
  ...response,
  headers: Object.fromEntries(
    Object.entries((response.headers ?? {}) as Record<string, Schema>).map(([name, header]) => [
      name,
      resolved(header),
    ]),
  ),
})
