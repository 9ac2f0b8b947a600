import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import {
  type Browser,
  type BrowserContext,
  type CDPSession,
  chromium,
  type Page,
  type Request,
} from 'playwright-core'
import { inject } from 'vitest'
import type { Chromium } from './chromium.ts'

export type CustomerOptions = {
  scripts?: boolean // default on
  width?: number // default: a small phone
  height?: number
  dark?: boolean
  locale?: 'en-GB' | 'fr-FR'
  reducedMotion?: boolean
}

// A customer with a separate browser context: cookies and storage are not shared.
export type Customer = Recording & {
  page: Page
  shoot(name: string): Promise<string> // saves a screenshot of the whole page and returns its path
  close(): Promise<void>
}

export type TestBrowser = {
  newCustomer(options?: CustomerOptions): Promise<Customer>
  close(): Promise<void>
}

const pictures = fileURLToPath(new URL('../../../screenshots/', import.meta.url))
// Shorter than a test's timeout, so that the step fails and says what it waited for. Longer than the longest polling gap,
// because on a busy machine a callback may be lost.
const waitMs = 45_000
const widestPhone = 600

// Host names and addresses outside this machine do not resolve.
const args = [
  '--no-proxy-server',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE *.localhost, EXCLUDE 127.*, EXCLUDE [::1]',
  '--disable-gpu',
  '--disable-dev-shm-usage', // containers have little shared memory
  '--font-render-hinting=none', // the same widths everywhere
]

// Chromium sometimes crashes during its start (SIGSEGV), so the start is repeated.
async function launch({ path, env }: Chromium, triesLeft = 2): Promise<Browser> {
  try {
    return await chromium.launch({ executablePath: path, env, args })
  } catch (error) {
    if (triesLeft === 0) throw error
    return launch({ path, env }, triesLeft - 1)
  }
}

// Call it in beforeAll, and close() in afterAll.
export async function openBrowser(): Promise<TestBrowser> {
  const found = inject('chromium')
  if (typeof found === 'string') throw new Error(found)
  const browser = await launch(found)
  return {
    newCustomer: options => newCustomer(browser, options),
    close: () => browser.close(),
  }
}

async function newCustomer(browser: Browser, options: CustomerOptions = {}): Promise<Customer> {
  const { scripts = true, width = 360, height = 740, dark = false, locale = 'en-GB' } = options
  const isPhone = width <= widestPhone
  const context = await browser.newContext({
    javaScriptEnabled: scripts,
    viewport: { width, height },
    isMobile: isPhone, // a page without a viewport meta tag is then laid out too wide, as on a phone
    hasTouch: isPhone,
    deviceScaleFactor: isPhone ? 2 : 1,
    colorScheme: dark ? 'dark' : 'light',
    reducedMotion: options.reducedMotion ? 'reduce' : 'no-preference',
    locale,
    timezoneId: 'Africa/Accra',
  })
  context.setDefaultTimeout(waitMs)
  const recorded = record(context)
  const page = await context.newPage()
  return {
    ...recorded,
    page,
    async shoot(name) {
      const path = `${pictures}${name}-${isPhone ? 'phone' : 'desktop'}-${dark ? 'dark' : 'light'}.png`
      await page.screenshot({ path, fullPage: true, animations: 'disabled', scale: 'css' })
      return path
    },
    close: () => context.close(),
  }
}

export type Fetched = {
  method: string
  url: string
  type: string // document, stylesheet, script, image, font, fetch, …
  status?: number // undefined while it is pending, and if it failed
  bytes: number // compressed size on the wire with headers; 0 from the cache
}

export type Recording = {
  // All faults, as `kind: what`: outside (a request beyond this machine), csp, console, error (uncaught), dialog, failed
  // (a part of the page is missing).
  faults: string[]
  requests(): Promise<Fetched[]> // in order; waits a little for pending ones
  origins(): Promise<string[]>
  weight(): Promise<number> // bytes of all requests
}

const settleMs = 2_000 // how long to wait for a request that stays open (events, a long poll)

// The lowest status that counts as a fault. The test checks the status of a page itself; scripts may receive a refusal.
const worstStatus: { [type: string]: number } = { document: 600, fetch: 500, xhr: 500 }

export function record(context: BrowserContext): Recording {
  const faults: string[] = []
  const fetched: Fetched[] = []
  const underWay = new Set<Promise<void>>()
  context.on('request', request => {
    const entry: Fetched = {
      method: request.method(),
      url: request.url(),
      type: request.resourceType(),
      bytes: 0,
    }
    if (!/^https?:/.test(entry.url)) return // data: and blob: are in the page already
    fetched.push(entry)
    if (isOutside(entry.url)) faults.push(`outside: ${entry.method} ${entry.url}`)
    const followed = follow(request, entry, faults)
      .catch(() => {}) // the page was closed meanwhile
      .finally(() => underWay.delete(followed))
    underWay.add(followed)
  })
  context.on('page', page => {
    page.on('websocket', socket => {
      if (isOutside(socket.url())) faults.push(`outside: ${socket.url()}`)
    })
  })
  context.on('console', message => {
    const text = message.text()
    if (/Content Security Policy|This document requires 'Trusted/.test(text)) faults.push(`csp: ${text}`)
    // A failed load is already recorded by its request.
    else if (message.type() === 'error' && !text.startsWith('Failed to load resource'))
      faults.push(`console: ${text}`)
  })
  context.on('weberror', webError => faults.push(`error: ${webError.error().message}`))
  context.on('dialog', dialog => {
    faults.push(`dialog: ${dialog.type()} ${dialog.message()}`)
    dialog.accept().catch(() => {}) // the page may be gone
  })
  const requests = async () => {
    await Promise.race([Promise.all(underWay), sleep(settleMs)])
    return [...fetched]
  }
  return {
    faults,
    requests,
    origins: async () => [...new Set((await requests()).map(({ url }) => new URL(url).origin))],
    weight: async () => (await requests()).reduce((sum, { bytes }) => sum + bytes, 0),
  }
}

async function follow(request: Request, entry: Fetched, faults: string[]) {
  const response = await request.response()
  const why = request.failure()?.errorText
  if (response) entry.status = response.status()
  else if (why !== 'net::ERR_ABORTED' && !isOutside(entry.url)) faults.push(`failed: ${why} ${entry.url}`)
  if (response && response.status() >= (worstStatus[entry.type] ?? 400))
    faults.push(`failed: ${entry.status} ${entry.url}`)
  const { responseHeadersSize, responseBodySize } = await request.sizes()
  entry.bytes = responseHeadersSize + responseBodySize
}

function isOutside(url: string) {
  const { hostname } = new URL(url)
  return !/^(localhost|.*\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
}

// The Chrome DevTools protocol, for what Playwright does not offer.
export async function withSession<T>(page: Page, use: (session: CDPSession) => Promise<T>): Promise<T> {
  const session = await page.context().newCDPSession(page)
  try {
    return await use(session)
  } finally {
    await session.detach()
  }
}
