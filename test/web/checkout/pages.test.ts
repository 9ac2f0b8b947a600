import { readFileSync } from 'node:fs'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { Hono } from 'hono'
import { encode } from 'uqr'
import { describe, expect, test } from 'vitest'
import type { Checkout } from '../../../src/actions/payments/openCheckout.ts'
import { type Lang, languages } from '../../../src/core/languages/languages.ts'
import { readMerchantSettings } from '../../../src/core/merchant/settings.ts'
import { type Reason, reasons } from '../../../src/core/provider/reason.ts'
import { createRateLimits } from '../../../src/runtime/rateLimits.ts'
import type { Runtime } from '../../../src/runtime/runtime.ts'
import { checkoutRoutes, stagePage } from '../../../src/web/checkout/checkout.tsx'
import { exitTo } from '../../../src/web/checkout/exit.tsx'
import { ChoosePage } from '../../../src/web/checkout/stages/choose.tsx'
import { CancelPage } from '../../../src/web/checkout/stages/ended.tsx'
import { ReceiptPage } from '../../../src/web/checkout/stages/paid.tsx'
import { readPublicFile } from '../../../src/web/documents/documents.ts'
import type { Env } from '../../../src/web/http/context.ts'
import { attemptFor, noon, scenes, token, viewOf } from '../../support/checkout/views.ts'

const file = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url))
const publicFile = (name: string) => new URL(`../../../src/web/public/${name}`, import.meta.url)
const zipped = (bytes: string | Buffer) => gzipSync(bytes).length

const show = (more: Partial<Checkout>, lang: Lang = 'en', again?: string) =>
  stagePage(viewOf(more, lang), again).toString()
const showLeaving = (more: Partial<Checkout>, lang: Lang = 'en') =>
  stagePage({ ...viewOf(more, lang), redirects: true }).toString()

const showTold = (provider_text: string) =>
  show({ ...scenes.wait, attempts: [attemptFor({ provider_text })] })
const showArriving = (scene: Partial<Checkout>, forward: boolean) =>
  stagePage(viewOf(scene), undefined, { forward }).toString()

const pages = (lang: Lang) =>
  new Map([
    ...Object.entries(scenes).map(([name, scene]) => [name, show(scene, lang)] as const),
    ['again', show(scenes.failed ?? {}, lang, 'same')],
    ['cancel', CancelPage({ view: viewOf(scenes.wait, lang) }).toString()],
    ['receipt', ReceiptPage({ view: viewOf(scenes.paid, lang) }).toString()],
  ])

for (const lang of Object.keys(languages) as Lang[]) {
  describe(`every page in ${lang}`, () => {
    for (const [name, html] of pages(lang)) {
      test(`${name} has its frame`, () => {
        expect(html).toContain(`<html lang="${lang}" dir="ltr">`)
        expect(html.match(/<h1/g)).toHaveLength(1)
        for (const landmark of ['header', 'main', 'footer'])
          expect(html.match(new RegExp(`<${landmark}[ >]`, 'g'))).toHaveLength(1)
        const amount = { en: 'GHS 25.00', fr: '25,00\u00a0GHS' }[lang]
        for (const always of ['Ama Shop', amount, 'Two straw hats, order 1042', 'AMA-1042'])
          expect(html).toContain(always)
        expect(html).toContain('TG-01JX2A-7K3M5Q-9XD0')
        expect(html).not.toMatch(/\{\w+\}(?![^<]*>)|undefined|\[object/) // every text is filled in
        expect(html).not.toMatch(/ style=| on\w+=|javascript:/)
      })
    }
  })
}

test('the scripts of the pages are those of the inventory', () => {
  const listed = [...String(file('docs/payment-page-scripts.md')).matchAll(/^\| `([^`]+)`/gm)].map(
    row => row[1],
  )
  const found = new Set<string | undefined>()
  for (const html of pages('en').values()) {
    expect(html.match(/<script/g)).toHaveLength(1)
    found.add(/<script src="([^"?]+)\?v=[0-9a-f]{10}" defer/.exec(html)?.[1])
  }
  expect([...found]).toEqual(listed)
})

test('the first view is light', () => {
  const weights = {
    html: zipped(show(scenes.choose ?? {})),
    css: brotliCompressSync(readPublicFile(publicFile('checkout.css'))).length,
    script: brotliCompressSync(readPublicFile(publicFile('checkout.js'))).length,
  }
  expect(weights.script).toBeLessThan(5_000)
  expect(weights.html + weights.css + weights.script).toBeLessThan(10_000) // a logo of 4 kB comes on top
})

test('the title has the status, the amount and the shop', () => {
  for (const [name, title] of [
    ['choose', 'Pay GHS 25.00 · Ama Shop'],
    ['wait', 'Enter your PIN on your phone · GHS 25.00 · Ama Shop'],
    ['failed', 'Not paid · GHS 25.00 · Ama Shop'],
    ['paid', 'Paid · GHS 25.00 · Ama Shop'],
  ] as const)
    expect(show(scenes[name] ?? {})).toContain(`<title>${title}</title>`)
})

const rowOf = (html: string, id: string) => new RegExp(`id="${id}".*?</label>`, 's').exec(html)?.[0] ?? ''

describe('payment methods with problems', () => {
  for (const [lang, degraded, down] of [
    ['en', '<b>MTN MoMo</b> is slow right now', '<b>Card</b> is not answering right now'],
    ['fr', '<b>MTN MoMo</b> est lent en ce moment', '<b>Carte</b> ne répond pas en ce moment'],
  ] as const)
    test(`are labelled in ${lang}`, () => {
      const html = show(scenes.chooseTroubled ?? {}, lang)
      expect(rowOf(html, 'mtn_mobile_money')).toContain(degraded)
      expect(rowOf(html, 'card')).toContain(down)
      expect(rowOf(html, 'telecel_cash')).not.toMatch(/trouble|disabled/)
      expect(show(scenes.choose ?? {}, lang)).not.toContain('trouble')
    })

  test('can be chosen while they are degraded, and not while they are unavailable', () => {
    const html = show(scenes.chooseTroubled ?? {})
    expect(rowOf(html, 'mtn_mobile_money')).toContain(' checked')
    expect(rowOf(html, 'card')).toContain(' disabled')
    const tried = show({ ...scenes.chooseTroubled, shut: [] })
    expect(rowOf(tried, 'card')).not.toContain(' disabled')
    const shut = show({ ...scenes.chooseTroubled, shut: ['mtn_mobile_money'] })
    expect(rowOf(shut, 'mtn_mobile_money')).not.toContain(' checked')
    expect(shut).not.toMatch(/data-method="MTN MoMo" data-prefixes/) // nobody is led there by the number
  })

  test('an unavailable method stays so when the form is shown again', () => {
    const faults = [{ field: '', text: 'Choose how to pay.' }]
    const form = { chosen: 'card', input: {}, faults }
    const html = ChoosePage({ view: viewOf(scenes.chooseTroubled), form }).toString()
    expect(rowOf(html, 'card')).toMatch(/disabled/)
    expect(rowOf(html, 'card')).not.toMatch(/ checked/)
  })
})

describe('test mode', () => {
  test('is marked and explained', () => {
    const html = show(scenes.choose ?? {})
    expect(html).toContain('Test mode: no real money moves')
    for (const number of ['000, 001', '4242 4242 4242 4242', '0.05']) expect(html).toContain(number)
    const phone = `/sandbox/phone/${attemptFor().attempt_id}?lang=en`
    expect(show(scenes.wait ?? {})).toContain(`href="${phone}"`)
    expect(show(scenes.wait ?? {})).toContain(`<iframe src="${phone}&amp;framed=1"`)
  })

  test('is not shown in live mode', () => {
    for (const scene of Object.values(scenes))
      expect(show({ ...scene, mode: 'live' })).not.toMatch(
        /sandbox|Test mode|4242|TEST|Try an ending|0240000000/,
      )
  })

  test('has one button for each ending, with the form that the customer would send', () => {
    const html = show({ ...scenes.choose, attempts: [attemptFor({ state: 'failed' })] })
    const forms = [...html.matchAll(/<form [^>]*>(?:(?!<\/form>).)*class="chip try".*?<\/form>/gs)].map(
      ([form]) => [
        /class="chip try">([^<]+)</.exec(form)?.[1],
        /action="([^"]+)"/.exec(form)?.[1],
        Object.fromEntries(
          [...form.matchAll(/name="([^"]+)" value="([^"]+)"/g)].map(found => found.slice(1)),
        ),
      ],
    )
    expect(forms).toEqual(
      [
        ['Paid', '0240000000'],
        ['Declined', '0240000003'],
        ['No money', '0240000002'],
        ['No answer', '0240000004'],
        ['Late', '0240000007'],
        ['Wrong amount', '0240000009'],
      ].map(([name, phone]) => [
        name,
        `/checkout/${token}/pay`,
        {
          form_token: 'token-of-the-form',
          number: '2',
          payment_method: 'mtn_mobile_money',
          'mtn_mobile_money.phone': phone,
        },
      ]),
    )
  })

  test('offers no ending of an unavailable method, and no test numbers without the sandbox', () => {
    const { methods: offers } = viewOf().checkout
    const cards = offers.filter(({ payment_method }) => payment_method === 'card')
    expect(show({ ...scenes.choose, methods: cards })).not.toMatch(/Try an ending|class="chip try"/)
    expect(show({ ...scenes.choose, methods: cards })).toContain('4242 4242 4242 4242')
    const unplayed = offers.map(method => ({ ...method, testEndings: undefined }))
    for (const name of ['choose', 'wait'])
      expect(show({ ...scenes[name], methods: unplayed })).not.toMatch(
        /Try an ending|class="chip try"|000, 001/,
      )
  })

  test('has the numbers of the provider that serves the method', () => {
    const { methods } = viewOf().checkout
    const [mtn] = methods
    if (!mtn) throw new Error('nothing is offered')
    const other = { ...mtn, testEndings: undefined, testNumbers: { '055 123 4987': 'paid' } as const }
    const html = show({ ...scenes.choose, methods: [other] })
    expect(html).toMatch(/<caption>MTN MoMo<\/caption>.*055 123 4987.*Paid/s)
    expect(html).not.toMatch(/000, 001|4242/)
    const mixed = show({ ...scenes.choose, methods: [other, ...methods.slice(3)] }) // the card and GhQR are simulated
    expect(mixed).toContain('4242 4242 4242 4242')
    expect(mixed).not.toContain('000, 001')
    expect(show({ ...scenes.choose, methods: [other], mode: 'live' })).not.toContain('055 123 4987')
  })

  test('is marked on the receipt', () => {
    expect(ReceiptPage({ view: viewOf(scenes.paid) }).toString()).toContain('TEST: no real money moved')
    expect(ReceiptPage({ view: viewOf(scenes.paidHere) }).toString()).not.toContain('TEST')
  })
})

describe('the form', () => {
  test('offers the number and selects its network', () => {
    const html = show({ number: '+233201234567' })
    expect(html).toMatch(/id="telecel_cash" value="telecel_cash" checked/)
    expect(html).toMatch(/Pay from <strong[^>]*>020 ••• 4567<\/strong>/)
    expect(html).toContain('name="telecel_cash.phone" value=""')
    expect(html).toContain('name="on_file" value="request"')
    expect(html).toContain('data-prefix="20"')
    expect(html).toContain('data-prefixes="20 50"')
    expect(html).not.toMatch(/20\s?123\s?4567/)
  })

  test('keeps the last try, or lets the customer choose again', () => {
    const failed = { ...scenes.failed, number: '+233201234567' }
    expect(show(failed, 'en', 'same')).toMatch(/id="mtn_mobile_money" value="mtn_mobile_money" checked/)
    expect(show(failed, 'en', 'same')).toMatch(/Pay from <strong[^>]*>024 ••• 3456<\/strong>/)
    expect(show(failed, 'en', 'same')).toContain('name="on_file" value="1"')
    expect(show(failed, 'en', 'other')).toContain('name="on_file" value="request"')
    expect(show(failed, 'en', 'other')).not.toContain('checked')
    expect(show(failed, 'en', 'same')).toContain('name="number" value="2"')
  })

  test('renders a field that has no text in the language file', () => {
    const [method] = viewOf().checkout.methods
    if (!method) throw new Error('nothing is offered')
    const words = { en: { label: 'Meter', hint: 'On the box' }, fr: { label: 'Compteur' } }
    const offers = [{ ...method, fields: [{ name: 'meter', kind: 'text', optional: true, words } as const] }]
    expect(show({ methods: offers })).toMatch(/Meter .*\(optional\).*On the box/s)
    expect(show({ methods: offers }, 'fr')).toContain('Compteur')
    expect(show({ methods: [{ ...method, fields: [{ name: 'meter', kind: 'text' }] }] })).toContain('>meter ')
  })
})

describe('waiting', () => {
  const base = viewOf(scenes.wait)
  const at = (seconds: number) =>
    stagePage({ ...base, now: new Date(noon.getTime() + seconds * 1000) }).toString()

  test('explains what was sent where, and how to find it', () => {
    const html = show(scenes.wait ?? {})
    for (const words of [
      '024 ••• 3456',
      '*170#',
      '6 My Wallet, 3 My Approvals',
      'You can close this page',
      'Never tell anyone your PIN.',
    ])
      expect(html).toContain(words)
    expect(html).not.toContain('0244123456')
  })

  test('shows the time left of the request, not that of the page', () => {
    expect(at(84)).toContain('<progress max="300" value="216" aria-hidden="true">')
    expect(at(84)).toContain('Time left <b class="left">3:36</b>')
    expect(at(0)).toContain('<b class="left">5:00</b>')
    expect(at(259)).toContain('<b class="left">0:41</b>')
    for (const seconds of [300, 3000])
      expect(at(seconds)).toContain('The request has ended. We are asking MTN MoMo whether it was approved.')
    expect(at(300)).not.toContain('<progress')
  })

  test('after giving up, shows when the customer can continue, in GMT without a script', () => {
    const html = show(scenes.waitGivenUp ?? {})
    expect(html).toContain(
      '<time class="whole" datetime="2026-11-15T12:05:00.000Z" data-in="300">12:05 GMT</time>',
    )
    const fr = show(scenes.waitGivenUp ?? {}, 'fr')
    expect(fr).toContain('vers <time')
    const late = { ...viewOf(scenes.waitGivenUp), now: new Date(noon.getTime() + 301_000) }
    expect(stagePage(late).toString()).toContain('This page updates by itself.')
    expect(stagePage(late).toString()).not.toContain('<time')
  })

  test('does not announce a time after the expiry of the payment', () => {
    const html = show({ ...scenes.waitGivenUp, expires_at: new Date(noon.getTime() + 60_000) })
    expect(html).not.toContain('go on at about')
    expect(show({ ...scenes.wait, expires_at: noon })).not.toContain('name="for"')
  })

  test('still works if the method is no longer offered', () => {
    const html = show({ ...scenes.wait, methods: [], requestEndsAt: undefined })
    expect(html).toContain('MTN MoMo')
    expect(html).toContain('look for your approvals')
  })

  test('never says that nothing was taken', () => {
    for (const name of [
      'wait',
      'waitUnknown',
      'waitCard',
      'waitBank',
      'waitGivenUp',
      'waitQr',
      'disputed',
      'cancelWished',
    ])
      expect(show(scenes[name] ?? {}), name).not.toMatch(/[Nn]othing was/)
    expect(CancelPage({ view: viewOf(scenes.wait) }).toString()).not.toMatch(/[Nn]othing was/)
  })

  test("shows the provider's text only if it names another code to dial, and escaped", () => {
    expect(showTold('Dial <b>*171#</b> to approve.')).toContain(
      'MTN MoMo says: <bdi>Dial &lt;b&gt;*171#&lt;/b&gt; to approve.</bdi>',
    )
    for (const known of ['Please complete authorization on your phone', 'Dial *170# to approve.'])
      expect(showTold(known), known).not.toContain('MTN MoMo says')
  })

  test('has every exit under "Problem?", and one instruction outside of it', () => {
    const html = show(scenes.wait ?? {})
    const [problem = ''] = /<details class="card problem">.*?<\/details>/s.exec(html) ?? []
    for (const words of ['No message came', 'Wrong number', 'Another way to pay', 'I have paid already'])
      expect(problem).toContain(words)
    expect(problem).toContain(`/checkout/${token}/cancel`)
    expect(html.replace(problem, '')).not.toMatch(/give-up|\/cancel"|\*170#/)
    const reload = stagePage(viewOf(scenes.wait), undefined, { isReload: true }).toString()
    expect(reload).toContain('<details class="card problem" open="">') // scripts are off: a reload does not close it
  })

  test('has a picture of the message on the phone, without a field for the PIN', () => {
    const [picture = ''] =
      /<div class="picture".*?<section|<div class="picture".*?<h1/s.exec(show(scenes.wait ?? {})) ?? []
    expect(picture).toContain('Enter your PIN to approve.')
    expect(picture).not.toMatch(/<input|class="pin"/)
  })

  test('promises an SMS only if there is one', () => {
    expect(show(scenes.wait ?? {})).toContain('You can close this page. We keep checking.')
    const view = { ...viewOf(scenes.wait), willText: true }
    expect(stagePage(view).toString()).toContain('You can close this page. We text you when it is paid.')
  })

  test("opens the provider's page by itself right after the button, and not after a return", () => {
    const html = showArriving(scenes.waitCard ?? {}, true)
    expect(html).toContain('data-go="https://psp.example/pay/1" data-after="0"')
    expect(html).toContain('<noscript><meta http-equiv="refresh" content="0; url=https://psp.example/pay/1"')
    expect(showArriving(scenes.waitCard ?? {}, false)).not.toContain('data-go')
    expect(showArriving(scenes.waitBank ?? {}, true)).not.toContain('data-go')
    const attempts = [attemptFor({ payment_method: 'card', redirect_url: 'javascript:alert(1)' })]
    expect(showArriving({ ...scenes.waitCard, attempts }, true)).not.toMatch(/data-go|javascript:/)
  })

  test('links only to a web address of the provider', () => {
    const attempts = [attemptFor({ payment_method: 'card', redirect_url: 'javascript:alert(1)' })]
    expect(show({ ...scenes.waitCard, attempts })).not.toContain('javascript:')
  })

  test('links to deferred_url before success_url', () => {
    const deferred_url = 'https://shop.example/later'
    expect(show({ ...scenes.wait, deferred_url })).toContain(`href="${deferred_url}"`)
    expect(show(scenes.wait ?? {})).toContain('href="https://shop.example/thanks?order=1042"')
  })
})

test('the reference is shown once on the page of a paid payment', () => {
  for (const html of [show(scenes.paid ?? {}), ReceiptPage({ view: viewOf(scenes.paid) }).toString()])
    expect(html.match(/>TG-01JX2A-7K3M5Q-9XD0|Reference TG-01JX2A/g)).toHaveLength(1)
})

test('the paid page and the receipt say what was refunded, and when', () => {
  const scene = { ...scenes.paid, returned: [{ amount: 500n, at: new Date('2026-03-03T08:05:00Z') }] }
  for (const [lang, words] of [
    ['en', 'Refunded</dt><dd><bdi>GHS 5.00, 3\u00a0Mar\u00a02026, 08:05\u00a0GMT'],
    ['fr', 'Remboursé</dt><dd><bdi>5,00\u00a0GHS, 3\u00a0mars\u00a02026, 08:05\u00a0GMT'],
  ] as const)
    for (const html of [show(scene, lang), ReceiptPage({ view: viewOf(scene, lang) }).toString()])
      expect(html).toContain(words)
  expect(show(scenes.paid ?? {})).not.toContain('Refunded')
})

test('a page without a next step says whom to ask, and with which reference', () => {
  for (const name of ['over', 'disputed', 'expired', 'closed', 'nowhere'])
    expect(show(scenes[name] ?? {}), name).toMatch(
      /Questions\? Ask <bdi>Ama Shop<\/bdi> and name the reference/,
    )
})

test('a fault is explained once, at its field', () => {
  const text = 'Your mobile money number: please fill this in.'
  const faults = [{ field: 'mtn_mobile_money.phone', label: 'Your mobile money number', text }]
  const form = { chosen: 'mtn_mobile_money', input: {}, faults }
  const html = ChoosePage({ view: viewOf(scenes.choose), form }).toString()
  expect(html).toContain(`<p class="fault" id="mtn_mobile_money.phone-fault">${text}</p>`)
  expect(html).toContain(`Please check one thing<span class="sr">. ${text}</span>`)
})

test('a QR code is rendered with all its modules', () => {
  const html = show(scenes.waitQr ?? {})
  const { data, size } = encode('https://pay.example/q/123', { border: 2, maskPattern: 3 })
  const drawn = data.map(row => row.map(() => false))
  for (const [, x, y, run] of html.matchAll(/M(\d+) (\d+)\.5h(\d+)/g))
    drawn[Number(y)]?.fill(true, Number(x), Number(x) + Number(run))
  expect(html).toContain(`viewBox="0 0 ${size} ${size}"`)
  expect(drawn).toEqual(data)
})

test('without scripts a failed payment is reloaded as long as it may become paid', () => {
  const [asked, known] = [noon, null].map(next_poll_at =>
    show({ ...scenes.failed, attempts: [attemptFor({ state: 'failed', reason: 'declined', next_poll_at })] }),
  )
  expect(asked).toContain(`<noscript><meta http-equiv="refresh" content="10; url=/checkout/${token}"`)
  expect(known).not.toContain('http-equiv')
})

for (const reason of Object.keys(reasons) as Reason[]) {
  test(`${reason} has its text on the page`, () => {
    const html = show({ ...scenes.failed, attempts: [attemptFor({ state: 'failed', reason })] })
    expect(html).toContain(languages.en.reasons[reason].title)
    expect(html.includes('Nothing was taken.')).toBe(reason !== 'given_up' && reason !== 'reversed')
  })
}

describe('markup in external texts', () => {
  const evil = `"><script>alert(1)</script><img src=x onerror=alert(1)>'`
  for (const [name, scene] of Object.entries(scenes)) {
    test(`stays text on ${name}`, () => {
      const html = show({
        ...scene,
        merchant_name: evil,
        description: evil,
        invoice_id: evil,
        payment_instrument: evil,
        payment_reference: evil,
      })
      expect(html.match(/<script/g)).toHaveLength(1)
      expect(html).not.toContain('<img src=x')
    })
  }
})

describe('the link back to the shop', () => {
  const registered = readMerchantSettings({ allowed_origins: 'https://shop.example' })
  for (const [url, settings, is] of [
    ['https://shop.example/thanks', readMerchantSettings({}), 'followed'],
    ['https://other.example/thanks', readMerchantSettings({}), 'followed'], // nothing registered
    ['https://shop.example/thanks', registered, 'followed'],
    ['https://shop.example:8443/', registered, 'shown'],
    ['http://shop.example/', registered, 'shown'],
    ['https://shop.example.evil.example/', registered, 'shown'],
    ['https://evil.example/?https://shop.example', registered, 'shown'],
    ['javascript:alert(1)', readMerchantSettings({}), 'refused'],
    ['data:text/html,x', readMerchantSettings({}), 'refused'],
    ['//evil.example', readMerchantSettings({}), 'refused'],
    ['/\\evil.example', readMerchantSettings({}), 'refused'],
    ['https:\\\\evil.example', readMerchantSettings({}), 'refused'],
    ['https://shop.example@evil.example/', readMerchantSettings({}), 'refused'],
    ['https://evil.example/\r\nset-cookie: a=b', readMerchantSettings({}), 'refused'],
    [' https://evil.example', readMerchantSettings({}), 'refused'],
    ['', readMerchantSettings({}), 'refused'],
  ] as const) {
    test(`${JSON.stringify(url)} is ${is}`, () => {
      const exit = exitTo(url, settings)
      expect(exit ? (exit.trusted ? 'followed' : 'shown') : 'refused').toBe(is)
      for (const name of ['paid', 'cancelled'] as const) {
        const scene = { ...scenes[name], success_url: url, cancelled_url: url, settings }
        const html = is === 'followed' ? showLeaving(scene) : show(scene)
        expect(html.includes('data-go='), name).toBe(is === 'followed')
        expect(html.includes('http-equiv="refresh"'), name).toBe(is === 'followed')
        expect(html.includes('rel="noreferrer"'), name).toBe(is !== 'refused')
        if (is === 'shown') expect(html).toContain(`Continue to <bdi>${new URL(url).host}</bdi>`)
        const later = show(scene)
        expect(later.includes('data-go=') || later.includes('http-equiv="refresh"'), name).toBe(false)
        if (is === 'followed') expect(later).toContain(`leads to <bdi>${new URL(url).host}</bdi>`)
      }
    })
  }

  test('is exactly the given address', () => {
    const url = 'https://shop.example/Thanks/../x?a=1&b=%20#part'
    const html = showLeaving({ ...scenes.paid, success_url: url })
    expect(html).toContain(`href="${url.replace('&', '&amp;')}"`)
    expect(html).toContain(`content="4; url=${url.replace('&', '&amp;')}"`)
  })
})

test('links repeat the chosen language', () => {
  const view = { ...viewOf(scenes.choose, 'fr'), urlLang: 'fr' as const }
  const html = stagePage(view).toString()
  expect(html).toContain(`action="/checkout/${token}/pay?lang=fr"`)
  expect(html).toContain(`href="/checkout/${token}/cancel?lang=fr"`)
  expect(html).toContain(`formaction="/checkout/${token}/words?lang=en" class="link" lang="en"`)
  const receipt = ReceiptPage({ view: viewOf(scenes.paid, 'fr') }).toString()
  expect(receipt).toContain(`href="/checkout/${token}/receipt?lang=en" lang="en"`)
})

const fromBrowser = { accept: 'text/html' }
const fromSomewhere = { incoming: { socket: { remoteAddress: '192.0.2.1' } } }
const broken = () => Promise.reject(new Error('a secret inside'))

test('a bug is answered with a page that has the request id', async () => {
  const limits = createRateLimits(() => 0)
  const runtime = { db: { one: broken, rows: broken }, clock: () => noon, baseUrl: () => '', limits }
  const app = new Hono<Env>()
  app.use(async (c, next) => {
    c.set('requestId', 'req_1')
    await next()
  })
  app.onError((_, c) => c.json({ code: 'internal' }, 500, { 'x-of': 'json' }))
  app.route('/checkout', checkoutRoutes({ runtime: runtime as unknown as Runtime, trustedProxies: 0 }))
  const answer = await app.request(`/checkout/${token}?lang=fr`, { headers: fromBrowser }, fromSomewhere)
  const html = await answer.text()
  expect([answer.status, answer.headers.get('x-of')]).toEqual([500, null])
  expect(answer.headers.get('content-type')).toBe('text/html; charset=UTF-8')
  expect(html).toContain('Requête req_1')
  expect(html).not.toMatch(/secret inside|[Rr]ien n’a été/)
})

test('too many requests from a network get a page, without a query', async () => {
  const limits = createRateLimits(() => 0)
  for (let visits = 0; visits < 3000; visits++) limits.visit('192.0.2.1')
  const runtime = { db: { one: broken, rows: broken }, clock: () => noon, baseUrl: () => '', limits }
  const routes = checkoutRoutes({ runtime: runtime as unknown as Runtime, trustedProxies: 0 })
  for (const [lang, words] of [
    ['en', 'Nothing has changed for your payment'],
    ['fr', 'Rien n’a changé pour votre paiement'],
  ])
    for (const path of ['', '/state', '/qr.svg', '/receipt', '/cancel', '/pay', '/give-up']) {
      const answer = await routes.request(
        `/${token}${path}?lang=${lang}`,
        { headers: fromBrowser },
        fromSomewhere,
      )
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '1'])
      expect(await answer.text()).toContain(words)
    }
})
