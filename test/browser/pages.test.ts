import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { axeFaults } from '../support/browser/axe.ts'
import { cutTexts, overflow, smallTargets } from '../support/browser/measure.ts'
import { type Customer, openBrowser, type TestBrowser } from '../support/browser/browser.ts'
import { shopOrigin } from '../support/checkout/stages.ts'
import { openEveryPage, type EveryPage } from '../support/browser/everyPage.ts'

declare const document: any // the functions given to evaluate() run in the browser
declare const getComputedStyle: any

const desk = { width: 1280, height: 800 } as const

let stages: EveryPage
let browser: TestBrowser

beforeAll(async () => {
  ;[stages, browser] = await Promise.all([openEveryPage(), openBrowser()])
})

afterAll(async () => {
  await browser?.close()
  await stages?.stop()
})

// Without a script, a page that waits for a result, or for a failure that may become paid, has to reload itself.
const unscripted = /^(wait-[\w-]+|failed|failed-soon|over|\w+-leaving): meta-refresh at meta/

// Every page in light and dark, on a phone and a wide screen, in both languages, with scripts and without. If only the
// colours differ, screenshots are enough: another test checks the contrast of every pair of colours.
for (const [name, options, { axe, shoot }] of [
  ['a small phone without scripts', { width: 320, scripts: false, dark: true }, { axe: true, shoot: false }],
  ['a phone', {}, { axe: true, shoot: true }],
  ['a desk in the dark, in French', { ...desk, dark: true, locale: 'fr-FR' }, { axe: true, shoot: true }],
  ['a phone in the dark, in French', { dark: true, locale: 'fr-FR' }, { axe: false, shoot: true }],
  ['a desk', desk, { axe: false, shoot: true }],
] as const) {
  test(`every page is accessible and fits on ${name}`, { timeout: 120_000 }, async () => {
    const customer = await browser.newCustomer(options)
    await staysHere(customer.page)
    const found: string[] = []
    for (const stage of stages.all) {
      const http = await stage.open(customer.page)
      if (http !== stage.http) found.push(`${stage.name}: HTTP ${http}`)
      const faults = [...(await faultsOf(customer)), ...(axe ? await axeFaults(customer.page) : [])]
      found.push(...faults.map(fault => `${stage.name}: ${fault}`))
      if (shoot) await customer.shoot(stage.name)
    }
    await customer.close()
    expect(found.filter(fault => !unscripted.test(fault))).toEqual([])
  })
}

// Users set this in their browser or phone.
test('every page can be read with letters twice as large', { timeout: 120_000 }, async () => {
  const { page, close } = await browser.newCustomer()
  const session = await page.context().newCDPSession(page)
  await session.send('Page.setFontSizes', { fontSizes: { standard: 32 } })
  await staysHere(page)
  const found: string[] = []
  for (const stage of stages.all.filter(({ name }) => !/^(sandbox|support)/.test(name))) {
    await stage.open(page)
    if ((await page.evaluate(bodySize)) !== '32px') found.push(`${stage.name}: letters stay as they are`)
    if (await overflow(page)) found.push(`${stage.name}: has to be moved sideways`)
    found.push(...(await cutTexts(page)).map(cut => `${stage.name}: cut: ${cut}`))
  }
  await close()
  expect(found).toEqual([])
})

const bodySize = () => getComputedStyle(document.body).fontSize

// The shop answers 204, so the page that redirects stays open and can be inspected.
const staysHere = (page: Page) => page.route(`${shopOrigin}/**`, route => route.fulfill({ status: 204 }))

async function faultsOf({ page, faults }: Customer): Promise<string[]> {
  const told = faults.splice(0)
  if (await overflow(page)) told.push('has to be moved sideways')
  told.push(...(await smallTargets(page)).map(target => `small: ${target}`))
  told.push(...(await page.evaluate(thinControls)).map((target: string) => `thin: ${target}`))
  told.push(...(await page.evaluate(frameFaults)))
  return told
}

// Controls of the payment method are at least 48 pixels high.
function thinControls(): string[] {
  const main = document.querySelectorAll('button, .btn, .field input, .method > label, summary')
  return [...main]
    .filter(element => element.checkVisibility({ opacityProperty: true, visibilityProperty: true }))
    .filter(element => element.getBoundingClientRect().height < 48)
    .map(
      element =>
        `${element.localName} "${element.textContent.trim()}" ${element.getBoundingClientRect().height}`,
    )
}

function frameFaults(): string[] {
  const faults: string[] = []
  if (document.querySelectorAll('h1').length !== 1) faults.push('has not one h1')
  if (!/^(en|fr)$/.test(document.documentElement.lang)) faults.push('has no language')
  if (document.title.trim() === '') faults.push('has no title')
  if (/undefined|\[object|\{\w+\}/.test(document.body.innerText))
    faults.push('has a text that is not filled in')
  return faults
}
