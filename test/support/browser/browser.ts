import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Browser, type BrowserContext, type CDPSession, chromium, type Page, type Request } from 'playwright-core'
import { inject } from 'vitest'
import type { Chromium } from './chromium.ts'

export type CustomerOptions = {
  scripts?: boolean // on, unless told otherwise
  width?: number // a small phone's, unless told otherwise
  height?: number
  dark?: boolean
  locale?: 'en-GB' | 'fr-FR'
  reducedMotion?: boolean
}

// A person with a browser of their own: no cookie and nothing stored is shared with another.
export type Customer = Recording & {
  page: Page
  shoot(name: string): Promise<string> // the whole page as a picture; gives back the file
  close(): Promise<void>
}

export type TestBrowser = {
  newCustomer(options?: CustomerOptions): Promise<Customer>
  close(): Promise<void>
}

const pictures = fileURLToPath(new URL('../../../screenshots/', import.meta.url))
// Part of a test's time, so that it is the step that fails and says what it waited for; and longer than the longest gap
// between two questions, because on a busy machine a callback may be lost.
const waitMs = 45_000
const widestPhone = 600

// Names and addresses outside this machine lead nowhere, whatever asks for them.
const args = [
  '--no-proxy-server',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE *.localhost, EXCLUDE 127.*, EXCLUDE [::1]',
  '--disable-gpu',
  '--disable-dev-shm-usage', // containers have little of it
  '--font-render-hinting=none', // the same widths everywhere
]

// Now and then one dies before it is there, of itself (SIGSEGV): then the next comes up.
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
    isMobile: isPhone, // a page without a viewport of its own is then laid out too wide, as on a phone
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
  status?: number // none while it is under way, and when it failed
  bytes: number // what went over the wire, headers and all, as compressed as it came; 0 from the cache
}

export type Recording = {
  // All that went wrong, as `kind: what`: outside (asked for something beyond this machine), csp, console, error
  // (thrown and not caught), dialog, failed (a part of the page is missing). Empty on a good day.
  faults: string[]
  requests(): Promise<Fetched[]> // in order; waits a little for those under way
  origins(): Promise<string[]>
  weight(): Promise<number> // bytes of all requests
}

const settleMs = 2_000 // a request that stays open (events, a long poll) is not waited for longer

// From which status on a request is a fault. That of a page is for the test to judge; a script may ask and hear no.
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
    // What could not be loaded is told better by its request.
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

// The browser's own language, for what has no other words.
export async function withSession<T>(page: Page, use: (session: CDPSession) => Promise<T>): Promise<T> {
  const session = await page.context().newCDPSession(page)
  try {
    return await use(session)
  } finally {
    await session.detach()
  }
}
