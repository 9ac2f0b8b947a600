import { fileURLToPath } from 'node:url'
import { type Browser, chromium, type Page } from 'playwright-core'
import { inject } from 'vitest'
import type { Chromium } from './chromium.ts'
import { type Recording, record } from './record.ts'

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
