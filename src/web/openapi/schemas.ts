import { z } from 'zod'
import { requestSchema } from '../../core/interface/request.ts'
import * as answers from './answers.ts'
import { asForm, type Json, type ObjectSchema, withOtherNames } from './requestSchema.ts'

type Requests = { PaymentRequest: ObjectSchema; PaymentForm: ObjectSchema }

// By the names that they have in the document.
export const bodies = {
  PaymentRequest: requestSchema,
  PaymentStored: answers.paymentStored,
  DirectStored: answers.directStored,
  StatusRecord: answers.statusRecord,
  KeyedRecord: answers.keyedRecord,
  StatusAnswer: answers.statusAnswer,
  KeyedAnswer: answers.keyedAnswer,
  EventsAnswer: answers.eventsAnswer,
  ErrorBody: answers.errorBody,
  FailedRecord: answers.failedRecord,
  FailedCheck: answers.failedCheck,
  FailedKeyedCheck: answers.failedKeyedCheck,
}

export type SchemaName = keyof typeof bodies | 'PaymentForm'

export const refTo = (name: SchemaName) => ({ $ref: uriOf(name) })

export const anyOf = (...names: SchemaName[]) => ({ anyOf: names.map(refTo) })

const uriOf = (name: string) => `#/components/schemas/${name}`

// The schemas that validate, as JSON Schema. The input side of each: what one may send, and no promise that
// an answer never grows a key.
export function jsonSchemas(): Record<SchemaName, Json> & Requests {
  const registry = z.registry<{ id: string }>()
  for (const [id, schema] of Object.entries(bodies)) registry.add(schema, { id })
  const made = z.toJSONSchema(registry, {
    io: 'input',
    target: 'draft-2020-12',
    unrepresentable: 'any', // numbers that keep their spelling describe themselves by meta()
    uri: uriOf,
    override: ({ jsonSchema }) => {
      if (jsonSchema.format === 'date-time') delete jsonSchema.pattern // the format says it, in fewer words
    },
  })
  const { schemas }: { schemas: Record<keyof typeof bodies, ObjectSchema> } = JSON.parse(JSON.stringify(made))
  for (const schema of Object.values(schemas)) {
    delete schema.$schema // OpenAPI 3.1 is this dialect already
    delete schema.$id // its place in the document is its name
  }
  const PaymentRequest = withOtherNames(schemas.PaymentRequest)
  return { ...schemas, PaymentRequest, PaymentForm: asForm(PaymentRequest) }
}
