import fc, { type Arbitrary } from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openapiDocument } from '../../src/web/openapi/document.ts'
import { type TestGateway, testGateway } from '../support/gateway/gateway.ts'
import { breaks, brokenRule, invoiceOf, type Known, refusalOf } from './allowed.ts'
import { type Described, type Operation, readDescription } from './document.ts'
import { complaints } from './judge.ts'
import { type Question, questionsOf, type Spoiling, spoilings } from './questions.ts'
import { type Answered, send } from './send.ts'
import { openDeliveryDatabase, type Shop } from './shops.ts'
import { asShop, spoiled, written } from './wire.ts'

export type Effort = { runs: number; seed: number; timeoutMs: number }

const metricsToken = 'a-token-to-read-the-numbers'
const spoilsNoField = ['sent twice', 'sent as', 'compressed', 'broken off']

// A stranger who has read /openapi.json and has keys: asks what it allows, and what it does not.
export function testOperations({ runs, seed, timeoutMs }: Effort) {
  let gateway: TestGateway
  let described: Described
  let shops: Shop[]
  const known: Known = { invoices: new Set(), tokens: [], cursors: [''] }

  beforeAll(async () => {
    gateway = await testGateway({ TOLLGATE_TRUST_PROXY: '1', TOLLGATE_METRICS_TOKEN: metricsToken })
    shops = await openDeliveryDatabase(gateway)
    described = await readDescription(gateway.url)
  })
  afterAll(() => gateway.stop())

  const operationOf = (id: string) =>
    described.operations.find(({ operationId }) => operationId === id) as Operation

  type Case = { question: Question; who: number; signs: boolean; remembers: number }
  const casesOf = (operation: Operation): Arbitrary<Case> =>
    fc.record({
      question: questionsOf(described, operation),
      who: fc.nat(shops.length), // the last is nobody
      signs: fc.oneof({ weight: 5, arbitrary: fc.constant(true) }, fc.constant(false)),
      remembers: fc.nat(1000),
    })

  // Asks about what is there, every other time.
  function reminded({ path, fields, ...question }: Question, { remembers }: Case, shop?: Shop): Question {
    const own = [...known.invoices].filter(one => one.startsWith(`${shop?.merchant_key} `))
    const invoice = own[remembers % (2 * own.length)]?.split(' ').slice(1).join(' ')
    const token = known.tokens[remembers % (2 * known.tokens.length)]
    const cursor = known.cursors[remembers % (2 * known.cursors.length)]
    return {
      ...question,
      path: token && path.token ? { ...path, token } : path,
      fields: {
        ...fields,
        ...(invoice &&
          fields.invoice_id !== undefined &&
          fields.total === undefined && { invoice_id: invoice }),
        ...(cursor && fields.after !== undefined && { after: cursor }),
      },
    }
  }

  function remember(shop: Shop | undefined, question: Question, answer: Answered) {
    if (answer.type === 'application/json' && answer.http === 200) {
      const { tx_token, next } = JSON.parse(answer.text)
      if (tx_token) known.tokens.push(tx_token)
      if (next) known.cursors.push(next)
    }
    const isTriggered = answer.http === 200 && answer.text.includes('"outcome":')
    if (answer.http === 303 || isTriggered || answer.text.includes('"status":"new"'))
      known.invoices.add(invoiceOf(shop, question.fields))
  }

  async function ask(operation: Operation, one: Case, spoiling?: Spoiling) {
    const shop = shops[one.who]
    const whole = reminded(one.question, one, shop)
    const question = spoiling && !spoilsNoField.includes(spoiling.kind) ? spoiled(whole, spoiling) : whole
    const proved = shop ? asShop(operation, question, shop, one.signs) : question
    const asked = await written(operation, proved, spoiling)
    if (operation.takesToken) asked.headers.authorization = `Bearer ${metricsToken}`
    const answer = await send(gateway.url, asked)
    expect(complaints(described, operation, answer), JSON.stringify({ asked, answer })).toEqual([])
    return { shop, question: proved, asked, answer }
  }

  const effort = { numRuns: runs, seed, endOnFailure: false }

  test('knows of every rule how it is broken', () => {
    for (const { rules } of described.operations)
      for (const { name } of rules) expect(breaks[name], name).toBeDefined()
  })

  for (const [path, methods] of Object.entries(openapiDocument('').paths))
    describe(path, () => {
      for (const [method, { operationId }] of Object.entries(methods) as [
        string,
        { operationId: string },
      ][]) {
        test(`${method} takes what its schema allows, but for the rules that it names`, {
          timeout: timeoutMs,
        }, async () => {
          const operation = operationOf(operationId)
          const property = fc.asyncProperty(casesOf(operation), async one => {
            const { answer, ...rest } = await ask(operation, one)
            const refusal = refusalOf(answer)
            const isPageOfNothing = operation.rules.length === 0 && [404, 410].includes(answer.http)
            if (refusal && !isPageOfNothing)
              expect(
                brokenRule(operation, refusal, { ...rest, known })?.name,
                JSON.stringify({ rest, answer }),
              ).toBeDefined()
            remember(rest.shop, rest.question, answer)
          })
          await fc.assert(property, effort)
        })

        test(`${method} answers what its schema does not allow as described`, {
          timeout: timeoutMs,
        }, async () => {
          const operation = operationOf(operationId)
          const property = fc.asyncProperty(casesOf(operation), spoilings, async (one, spoiling) => {
            const { shop, question, answer } = await ask(operation, one, spoiling)
            remember(shop, question, answer)
          })
          await fc.assert(property, effort)
        })
      }
    })
}
