import type { Page } from 'playwright-core'
import type { Texts } from '../../../src/core/languages/en.ts'
import { languages } from '../../../src/core/languages/languages.ts'
import { fill } from '../../../src/core/text.ts'

export const { en, fr } = languages
export const eventually = { timeout: 40_000 } // for changes without a click

export type Wallet = 'MTN MoMo' | 'Telecel Cash' | 'AT Money'
type Way = Wallet | 'Card' | 'GhQR'

// The steps of a customer who pays. Elements are found by role and name.
export const sees = (page: Page, title: string) =>
  page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor(eventually)

export const press = (page: Page, name: string | RegExp) =>
  page.getByRole('button', { name, exact: true }).click()
export const follow = (page: Page, name: string | RegExp) =>
  page.getByRole('link', { name, exact: true }).click()

type ProblemExit = Exclude<keyof Texts['problem'], 'title' | 'no_message'>

// An exit under "Problem?", which is open on a page that has reloaded itself.
export async function takeExit(page: Page, exit: ProblemExit, t: Texts = en) {
  const { button } = t.problem[exit]
  const role = exit === 'number' || exit === 'method' ? 'button' : 'link'
  const found = page.locator('.problem').getByRole(role, { name: button, exact: true })
  if (!(await found.isVisible())) await page.locator('.problem summary').click()
  await found.click()
}

// A page that receives no updates, as on a bad network.
export const staysOld = (page: Page) => page.route('**/state*', route => route.fulfill({ status: 204 }))

export const choose = (page: Page, way: Way) => page.getByRole('radio', { name: way }).check()
export const phoneField = (page: Page, t: Texts = en) =>
  page.getByRole('textbox', { name: t.fields.phone.label })
// If a number is on file, the field for another one is in a disclosure.
export async function typeNumber(page: Page, number: string, t: Texts = en) {
  if (!(await phoneField(page, t).isVisible()))
    await page.getByText(t.choose.other_number, { exact: true }).filter({ visible: true }).click()
  await phoneField(page, t).fill(number)
}
// The number on file, which pays unless another one is typed.
export const numberOnFile = (page: Page) => page.locator('.on-file').filter({ visible: true }).innerText()
export const pressPay = (page: Page, t: Texts = en) =>
  press(page, new RegExp(`^${fill(t.choose.pay, { amount: '(GHS|[\\d,]+ GHS)' })}`))

export async function fillWallet(page: Page, way: Wallet, number: string, voucher = '246810', t: Texts = en) {
  await choose(page, way)
  await typeNumber(page, number, t)
  if (way === 'Telecel Cash')
    await page.getByRole('textbox', { name: t.fields.voucher_code.label }).fill(voucher)
}

export async function payWithWallet(
  page: Page,
  way: Wallet,
  number: string,
  voucher?: string,
  t: Texts = en,
) {
  await fillWallet(page, way, number, voucher, t)
  await pressPay(page, t)
}

export type TypedCard = { number: string; cvv?: string; code?: string }

// Continues to the provider's page, and types the card and, if the bank asks for it, the code.
export async function payWithCard(page: Page, card: TypedCard, t: Texts = en) {
  await choose(page, 'Card')
  await pressPay(page, t)
  await typeCard(page, card, t)
}

export async function typeCard(page: Page, { number, cvv = '123', code }: TypedCard, t: Texts = en) {
  const { card, secure } = t.sandbox
  await page.getByLabel(card.number).fill(number)
  await page.getByLabel(card.expiry).fill('09/40')
  await page.getByLabel(card.cvv).fill(cvv)
  await press(page, new RegExp(`^${fill(card.button, { amount: '(GHS|[\\d,]+ GHS)' })}`))
  if (code === undefined) return
  await page.getByLabel(secure.code).fill(code)
  await press(page, secure.confirm)
}

// Answers the prompt that the test phone shows.
export async function answerPrompt(phone: Page, decision: 'Approve' | 'Decline', t: Texts = en) {
  const { prompt, endings } = t.sandbox
  if (decision === 'Approve') await phone.getByLabel(prompt.pin).fill('1234')
  await press(phone, decision === 'Approve' ? prompt.approve : prompt.decline)
  await sees(phone, decision === 'Approve' ? endings.approved : endings.declined)
}

// The test phone opens in another tab.
export async function decideOnTestPhone(page: Page, decision: 'Approve' | 'Decline', t: Texts = en) {
  const phone = await openTestPhone(page, t)
  await answerPrompt(phone, decision, t)
  await phone.close()
}

// Without scripts the waiting page reloads itself. A click while it does opens nothing, and is repeated.
async function openTestPhone(page: Page, t: Texts): Promise<Page> {
  for (;;) {
    const opened = page
      .context()
      .waitForEvent('page', { timeout: 10_000 })
      .catch(() => undefined)
    await follow(page, t.wait.test_phone)
    const phone = await opened
    if (phone) return phone
  }
}

export const seesPaid = (page: Page, t: Texts = en) => sees(page, t.paid.title)

export async function seesFailed(page: Page, reason: keyof Texts['reasons']) {
  await sees(page, en.reasons[reason].title)
  await reads(page, en.failed.nothing_taken)
  await reads(page, en.reasons[reason].advice)
}

// A decline by its reason, or a page by its title.
export const seesEnding = (page: Page, ending: string) =>
  isReason(ending) ? seesFailed(page, ending) : sees(page, ending)

const isReason = (word: string): word is keyof Texts['reasons'] => Object.hasOwn(en.reasons, word)

// The name of the focused field.
export const focused = (page: Page) =>
  page
    .locator(':focus')
    .getAttribute('name', { timeout: 2000 })
    .catch(() => 'nothing')

export const reads = (page: Page, words: string) =>
  page.getByRole('main').filter({ hasText: words }).waitFor()
