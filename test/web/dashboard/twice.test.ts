import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { installationSecrets } from '../../../src/actions/installation/secrets.ts'
import { everyRoute, nameOf } from '../../support/dashboard/everyRoute.ts'
import { formActions, type World } from '../../support/dashboard/formActions.ts'
import { openForm, submitForm } from '../../support/dashboard/openForm.ts'
import { type TestGateway, testGateway } from '../../support/gateway/gateway.ts'

// Every form that changes something, submitted twice at once, and then by a second tab that was opened before.

let gateway: TestGateway
let world: World
beforeAll(async () => {
  gateway = await testGateway()
  const { db, masterKeys, url } = gateway
  const { formKey } = await installationSecrets(db, masterKeys, new Date())
  world = { db, masterKeys, formKey, url: () => url, merchant: await gateway.addMerchant('rate_limit=0') }
})
afterAll(() => gateway.stop())

const text = (html: string) =>
  html
    .replace(/<head>[^]*?<\/head>/, ' ')
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')

// The page that a browser shows after the answer.
async function shownAfter(answer: Response | undefined, cookie: string) {
  const next = answer?.headers.get('location')
  if (!answer || !next) return (await answer?.text()) ?? ''
  return (await fetch(new URL(next, gateway.url), { headers: { cookie, accept: 'text/html' } })).text()
}

const submitted: string[] = []

describe('it happens once, the audit log says it once, and the second answer says how it is', () => {
  for (const { name, isNew, isRecordedFirst, again, prepare } of formActions)
    test(name, async () => {
      const prepared = await prepare(world)
      const [form, other] = [await openForm(gateway.url, prepared), await openForm(gateway.url, prepared)]
      const secondTab = isNew ? form : other
      submitted.push(form.action)
      const answers = await Promise.all([form, form].map(one => submitForm(gateway.url, one)))
      const later = await submitForm(gateway.url, secondTab)
      expect([...answers, later].map(answer => answer?.status).filter(http => !http || http >= 500)).toEqual(
        [],
      )
      const count = async (rows: typeof prepared.entries) => (await gateway.db.rows(rows)).length
      const entries = await count(prepared.entries)
      expect([
        await count(prepared.happened(form.fields)),
        isRecordedFirst ? entries > 0 : entries === 1,
      ]).toEqual([1, true])
      expect(text(await shownAfter(later, form.cookie))).toMatch(again)
    })
})

// The other forms, and what shows that they can be submitted twice.
const others: Record<string, RegExp> = {
  'changes nothing': /\/(branding\/show|audit\/verify|people\/find|passkey-options)$/,
  'each look, test, export and wrong password is recorded':
    /\/(reveal|test|test-notification|people\/export|confirm)$/,
  'one code of the app, one challenge of a passkey and one link work once':
    /\/(account\/second-factor|open\/second-factor|passkey-add|passkey-remove|passkey|first-visit)$/,
  'the session is new at every sign-in, and a second end of it finds none': /\/(sign-in|sign-out)$/,
  'a mail for each request, within the limits': /^post open\/reset$/,
  'its picture needs another kind of form: test/web/dashboard/settings.test.ts': /\/settings\/logo$/,
  'an attempt has a number: test/web/dashboard/take.test.ts': /\/take\/:reference\/ask$/,
  'the same forms as that of the checkout and of the limits':
    /\/settings\/(notifications|requests|branding|refunds|fees)$/,
}

test('every other form changes nothing, or has a reason', () => {
  const routes = (['merchant', 'operator', 'own', 'open'] as const).flatMap(part =>
    everyRoute[part]
      .filter(({ method }) => method === 'post')
      .map(route => ({ name: nameOf(part, route), path: new RegExp(`${patternOf(route.path)}$`) })),
  )
  const left = routes
    .filter(({ path }) => !submitted.some(action => path.test(action)))
    .map(({ name }) => name)
    .filter(name => !Object.values(others).some(pattern => pattern.test(name)))
  expect(left).toEqual([])
})

const patternOf = (path: string) => path.replaceAll(/:\w+/g, '[^/]+')
