import { afterAll, beforeAll, expect, test } from 'vitest'
import type { GatewayOptions } from '../../../src/main.ts'
import { type Customer, type CustomerOptions, openBrowser, type TestBrowser } from '../browser/browser.ts'
import { type TestGateway, type TestMerchant, testGateway } from '../gateway/gateway.ts'
import { askFor, type Sale } from './sale.ts'

const journeyMs = 150_000 // a page without scripts reloads every 5 seconds, and many tests share two cores
const readable = 400 // characters of the page that a failure shows
const lastLines = 40 // of the gateway's log that a failure shows

export type Walk = (customer: Customer & { scripts: boolean }) => Promise<void>

export type Journeys = {
  readonly gateway: TestGateway
  shopAsksFor(fields?: Record<string, unknown>, merchant?: TestMerchant): Promise<Sale>
  newCustomer(options?: CustomerOptions): Promise<Customer>
  walk(options: CustomerOptions, walk: Walk): Promise<void>
  journey(name: string, ...rest: [Walk] | [CustomerOptions, Walk]): void
}

// Differences from the default shop and gateway.
export type JourneyOptions = Partial<GatewayOptions> & {
  env?(): Promise<Record<string, string>>
  settings?: readonly string[] // of the shop
}

// A gateway with a shop and a browser for its customers, for the tests of one file.
export function openJourneys({ env, settings = [], ...options }: JourneyOptions = {}): Journeys {
  let gateway: TestGateway
  let browser: TestBrowser
  let shop: TestMerchant

  beforeAll(async () => {
    const opened = testGateway(await env?.(), { sandboxPace: 0.1, ...options })
    ;[gateway, browser] = await Promise.all([opened, openBrowser()])
    shop = await gateway.addMerchant(...settings)
  })
  afterAll(async () => {
    await browser?.close()
    await gateway?.stop()
  })

  const newCustomer = (wanted?: CustomerOptions) => browser.newCustomer(wanted)

  // One customer from the first page to the last. The browser must not record a fault.
  async function walk(wanted: CustomerOptions, go: Walk) {
    const customer = await newCustomer(wanted)
    try {
      await go({ ...customer, scripts: wanted.scripts ?? true })
      expect(customer.faults).toEqual([])
    } catch (error) {
      throw await withPlace(
        error,
        customer,
        gateway.logs.filter(line => line.includes('/checkout')).slice(-lastLines),
      )
    } finally {
      await customer.close()
    }
  }

  // Runs with scripts and without, unless the options choose; concurrently.
  function journey(name: string, ...rest: [Walk] | [CustomerOptions, Walk]) {
    const [wanted, go] = rest.length === 2 ? rest : [{}, ...rest]
    for (const scripts of wanted.scripts === undefined ? [true, false] : [wanted.scripts]) {
      const title = `${name}, scripts ${scripts ? 'on' : 'off'}`
      test.concurrent(title, () => walk({ ...wanted, scripts }, go), journeyMs)
    }
  }

  return {
    get gateway() {
      return gateway
    },
    shopAsksFor: (fields, merchant = shop) => askFor(gateway, merchant, fields),
    newCustomer,
    walk,
    journey,
  }
}

async function withPlace(error: unknown, { page, faults }: Customer, logs: readonly string[]) {
  const main = page.locator('main').innerText({ timeout: 500 })
  const words = (await main.catch(() => 'nothing')).replaceAll(/\s+/g, ' ').slice(0, readable)
  if (error instanceof Error)
    error.message += `\nat ${page.url()}, which reads: ${words}\nfaults: ${faults.join(', ') || 'none'}
${logs.join('')}`
  return error
}
