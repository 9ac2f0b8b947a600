import { SegmentedMessage } from 'sms-segments-calculator'
import { describe, expect, test } from 'vitest'
import { languages } from '../../../src/core/languages/languages.ts'
import { type MessageFacts, messageLink } from '../../../src/core/message/message.ts'
import { exhaustedMail } from '../../../src/core/message/texts/exhausted.ts'
import { customerMail } from '../../../src/core/message/texts/mail.ts'
import { smsText } from '../../../src/core/message/texts/sms.ts'
import { reasons } from '../../../src/core/provider/reason.ts'
import { noon } from '../../support/payments/rows.ts'

const token = `ama000000001j8xk${'7zq4'.repeat(6)}mn`
const link = `https://pay.example.edu.gh/checkout/${token}`

const factsWith = (changed: Partial<MessageFacts> = {}): MessageFacts => ({
  topic: 'paid',
  mode: 'live',
  merchant_name: 'Ama Shop',
  amount: 2500n,
  currency: 'GHS',
  tx_reference: 'TG-01JF3K-9WZQ4M-7HN2XB',
  invoice_id: 'AMA-1042',
  description: 'Two straw hats',
  status_reason: '',
  payment_method: 'mtn_mobile_money',
  payment_time: noon,
  link,
  ...changed,
})

const langs = Object.keys(languages) as (keyof typeof languages)[]
const topics = ['paid', 'failed', 'cancelled', 'refunded'] as const
const count = (text: string, part: string) => text.split(part).length - 1

function everyLetter(
  check: (facts: MessageFacts, lang: string) => void,
  changed: Partial<MessageFacts> = {},
) {
  for (const lang of langs)
    for (const topic of topics)
      for (const mode of ['live', 'test'] as const) check(factsWith({ topic, mode, ...changed }), lang)
}

function expectOneSegment(text: string) {
  const sms = new SegmentedMessage(text)
  expect(sms.getNonGsmCharacters(), text).toEqual([])
  expect([sms.encodingName, sms.segmentsCount], text).toEqual(['GSM-7', 1])
  expect(text).not.toMatch(/[\p{C}\n\r]|[^\S ]| {2}/u)
}

test('an unknown language is English', () => {
  for (const lang of ['tw', '', 'constructor', '__proto__'])
    expect([smsText(factsWith(), lang), customerMail(factsWith(), lang)]).toEqual([
      smsText(factsWith(), 'en'),
      customerMail(factsWith(), 'en'),
    ])
})

for (const [topic, place] of [
  ['paid', '/receipt'], // the receipt page stays
  ['failed', ''], // which offers what can be done
  ['cancelled', ''],
  ['refunded', '/receipt'], // which lists the refunds
] as const)
  test(`the message about ${topic} links to ${place || 'the payment'}`, () =>
    expect(messageLink(topic, 'https://pay.example', 't')).toBe(`https://pay.example/checkout/t${place}`))

test('a mail about a refund says how much, by whom, to what and when', () => {
  const { subject, text } = customerMail(
    factsWith({ topic: 'refunded', amount: 1000n, refunded_at: noon }),
    'en',
  )
  expect(subject).toBe('Refunded: GHS 10.00 by Ama Shop')
  expect(text).toContain('Refunded\nGHS 10.00\n')
  expect(text).toMatch(/Refunded to +MTN MoMo\n/)
  expect(text).toMatch(/When +2 Mar 2026, 12:00 GMT\n/)
  const french = customerMail(factsWith({ topic: 'refunded', refunded_at: noon }), 'fr')
  expect(french.subject).toMatch(/^Remboursement\s: 25,00\sGHS par Ama Shop$/)
})

test('a receipt lists what was refunded since', () => {
  const returned = [{ amount: 500n, at: noon }]
  expect(customerMail(factsWith({ returned }), 'en').text).toMatch(
    /Refunded +GHS 5\.00, 2 Mar 2026, 12:00 GMT\n/,
  )
  expect(customerMail(factsWith(), 'en').text).not.toContain('Refunded')
})

describe('an SMS', () => {
  for (const [lang, mode, topic, text] of [
    ['en', 'live', 'paid', `Paid GHS 25.00 to Ama Shop. Ref TG-01JF3K-9WZQ4M-7HN2XB. Receipt: ${link}`],
    [
      'en',
      'test',
      'failed',
      `TEST Not paid: GHS 25.00 to Ama Shop. Ref TG-01JF3K-9WZQ4M-7HN2XB. See why: ${link}`,
    ],
    [
      'en',
      'live',
      'cancelled',
      `Cancelled: GHS 25.00 to Ama Shop. Ref TG-01JF3K-9WZQ4M-7HN2XB. Details: ${link}`,
    ],
    [
      'en',
      'live',
      'refunded',
      `Refunded GHS 25.00 by Ama Shop. Ref TG-01JF3K-9WZQ4M-7HN2XB. Receipt: ${link}`,
    ],
    ['fr', 'live', 'paid', `Payé 25,00 GHS à Ama Shop. Réf. TG-01JF3K-9WZQ4M-7HN2XB. Recu : ${link}`],
    [
      'fr',
      'test',
      'cancelled',
      `TEST Annulé : 25,00 GHS à Ama Shop. Réf. TG-01JF3K-9WZQ4M-7HN2XB. Détails : ${link}`,
    ],
  ] as const)
    test(text, () => expect(smsText(factsWith({ mode, topic }), lang)).toBe(text))

  for (const [name, spelled] of [
    ['Épicerie “Chez Ama” – Café', 'Épicerie "Chez Ama" - Café'],
    ['Ɔdɔ Ɛyɛ Ŋutɔ', 'Odo Eye Nuto'], // Ghana's own letters
    ['François & Zoë', 'Francois & Zoe'],
    ['Cafe\u0301 Ama', 'Café Ama'],
    ['Ama 🍕 Pizza', 'Ama Pizza'],
    ['₵edi Shop', 'GHS edi Shop'],
    ['Ama 商 Shop', 'Ama ? Shop'],
    ['商店商店 A', 'the shop'], // too little would be left
    ['متجر', 'the shop'],
    ['🍕', 'the shop'],
    ['', 'the shop'],
    ['Ama\r\nShop\u0000\u202e!', 'Ama Shop !'],
    ['St. Mary’s / A-level', "St. Mary's / A-level"],
    ['shop.example', 'shop.example'],
    ['Win http://evil.example/login?x now', 'Win evil.example now'],
    ['{link} {reference} $&', '{link} {reference} $&'],
  ] as const)
    test(`spells ${JSON.stringify(name)} as ${spelled}`, () => {
      const text = smsText(factsWith({ merchant_name: name, link: 'https://pay.gh/c' }), 'en')
      expect(text).toContain(` to ${spelled}. Ref TG-`)
      expectOneSegment(text)
    })

  test('a name with a final dot ends the sentence', () =>
    expect(smsText(factsWith({ merchant_name: 'Ama Ltd.' }), 'en')).toContain(' to Ama Ltd. Ref TG-'))

  test('a long name is shortened before the text is', () => {
    const text = smsText(factsWith({ merchant_name: 'Ama and Kofi Traditional Hats and Baskets' }), 'en')
    const reference = 'Ref TG-01JF3K-9WZQ4M-7HN2XB'
    expect(text).toBe(`Paid GHS 25.00 to Ama and Kofi Traditio... ${reference}. Receipt: ${link}`)
  })

  test('with the longest amount and name still has its link and its reference', () =>
    everyLetter(
      (facts, lang) => {
        const text = smsText(facts, lang)
        expectOneSegment(text)
        expect([count(text, facts.link), count(text, facts.tx_reference)], text).toEqual([1, 1])
        expect(text).toContain(lang === 'fr' ? '999 999 999 999,99 GHS' : 'GHS 999,999,999,999.99')
        expect(text).toContain('[[[')
      },
      { merchant_name: '['.repeat(200), amount: 99_999_999_999_999n },
    ))

  test('leaves out a link that would need a second segment or another alphabet', () => {
    for (const base of [`https://${'pay.'.repeat(30)}gh`, 'https://pé😀.example'])
      everyLetter(
        (facts, lang) => {
          const text = smsText(facts, lang)
          expectOneSegment(text)
          expect(text).not.toContain('http')
          expect(count(text, facts.tx_reference)).toBe(1)
        },
        { link: `${base}/checkout/${token}`, merchant_name: 'x'.repeat(300) },
      )
  })

  test('has no description and no second link', () =>
    everyLetter(
      (facts, lang) => {
        const text = smsText(facts, lang)
        expect(text).not.toContain('evil')
        expect(count(text, '://')).toBe(1)
      },
      { description: 'http://evil.example', invoice_id: 'evil.example', merchant_name: 'Ama https://' },
    ))
})

const hostile = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  '</title></style><style>*{display:none}</style>',
  '<!-- ',
  '&lt;b&gt; &#x3c;b&#x3e;',
  'Ama\r\nBcc: all@shop.example\r\n\r\nhello',
  'Ama\u2028\u2029\u0085\u000b\u0000\u0007\u001b[31m',
  '\u202egnp.exe \u2066\u2069\u200f\u200b\ufeff',
  '\ud800 lone \udfff',
  '👩‍👩‍👧‍👦🏳️‍🌈'.repeat(30),
  'x'.repeat(10_000),
  '€'.repeat(500),
  'Your account is blocked. Log in at https://evil.example/login now',
  'evil.example/login evil。example www.evil.example',
  '=HYPERLINK("http://evil.example","x")',
  '{shop} {link} {reference} $& $1 %s',
  'Z̸̢̛a̷l̵g̶o̸'.repeat(20),
]

describe('hostile texts', () => {
  for (const words of hostile)
    test(`${JSON.stringify(words.slice(0, 40))} stays text`, () => {
      const changed = { merchant_name: `Ama ${words}`, description: words, status_reason: words }
      everyLetter((facts, lang) => expectOneSegment(smsText(facts, lang)), changed)
      everyLetter((facts, lang) => expectSafe(facts, lang), changed)
    })
})

// Hostile texts may be shown. They must not become markup, lines or links, or hide other text.
function expectSafe(facts: MessageFacts, lang: string) {
  const { subject, text, html } = customerMail(facts, lang)
  const tame = customerMail({ ...facts, merchant_name: 'Ama', description: 'Hats', status_reason: '' }, lang)
  expect(tagsOf(html)).toEqual(tagsOf(tame.html))
  expect(text.split('\n')).toHaveLength(tame.text.split('\n').length)
  expect([...subject].length).toBeLessThanOrEqual(120)
  for (const content of [subject, text.replaceAll('\n', ''), html.replaceAll('\n', '')])
    expect(content).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
  for (const content of [text, html]) {
    expect([count(content, facts.link), count(content, facts.tx_reference), count(content, '://')]).toEqual([
      1, 1, 1,
    ])
    expect(content.isWellFormed()).toBe(true)
    expect(content.length).toBeLessThan(8000)
  }
}

const tagsOf = (html: string) => html.match(/<[^>]*>/g)

describe('a mail', () => {
  test('has the outcome, the shop, the amount, the method, the time and the reference', () => {
    const { subject, text, html } = customerMail(factsWith(), 'en')
    expect(subject).toBe('Paid: GHS 25.00 to Ama Shop')
    for (const content of [text, html])
      for (const words of [
        'Ama Shop',
        'GHS 25.00',
        'Two straw hats',
        'AMA-1042',
        'MTN MoMo',
        '2 Mar 2026, 12:00 GMT',
      ])
        expect(content).toContain(words)
    expect(html).toMatch(/^<!doctype html>\n<html lang="en" dir="ltr">/)
    expect(html).not.toMatch(/<script|<img|<link|@import|url\(|src=/i)
  })

  test('in French', () => {
    const { subject, text, html } = customerMail(factsWith({ payment_method: 'card', mode: 'test' }), 'fr')
    expect(subject).toBe('TEST Paiement effectué\u00a0: 25,00\u00a0GHS à Ama Shop')
    for (const words of ['Payé avec', 'Carte', '2 mars 2026, 12:00 GMT', 'aucun argent réel'])
      expect(text).toContain(words)
    expect(html).toContain('<html lang="fr"')
  })

  const mayHaveTaken = ['given_up', 'reversed'] // closed by an operator, or taken and returned
  for (const [word, sentence] of Object.entries(reasons))
    test(`has the reason ${word}`, () => {
      for (const lang of langs) {
        const { text } = customerMail(
          factsWith({ topic: 'failed', status_reason: sentence, payment_time: null }),
          lang,
        )
        const { reasons: words, messages: letters } = languages[lang]
        expect(text).toContain(words[word as keyof typeof reasons].title)
        expect(text.includes(letters.mail.nothing_taken)).toBe(!mayHaveTaken.includes(word))
      }
    })

  test('does not repeat an unknown reason of a provider', () => {
    const { text, html } = customerMail(
      factsWith({ topic: 'failed', status_reason: 'E_1042 at 0241234567' }),
      'en',
    )
    expect(text).toContain('Not paid: the provider refused')
    for (const content of [text, html]) expect(content).not.toContain('E_1042')
  })

  test('has no time, method or description if the payment has none', () => {
    const facts = factsWith({
      topic: 'cancelled',
      payment_method: null,
      payment_time: null,
      description: null,
    })
    const { text } = customerMail(facts, 'en')
    for (const words of ['When', 'with', 'For ']) expect(text).not.toContain(words)
    expect(text).toContain('Nothing was taken.')
  })

  for (const [description, shown] of [
    ['v1.2, size 3.5/4', 'v1.2, size 3.5/4'],
    ['Go to https://evil.example/login', 'Go to evil·example'],
    ['write to me@evil.example', 'write to me@evil·example'],
    ['Hats. Baskets.', 'Hats. Baskets.'],
    ['x'.repeat(500), `${'x'.repeat(117)}...`],
  ] as const)
    test(`has the description ${description.slice(0, 40)}`, () =>
      expect(customerMail(factsWith({ description }), 'en').text).toMatch(
        new RegExp(`^For +${shown.replaceAll('.', '\\.')}$`, 'm'),
      ))

  test('leaves out an invoice id that looks like a link', () => {
    for (const invoice_id of ['evil.example/login', 'http://evil'])
      expect(customerMail(factsWith({ invoice_id }), 'en').text).not.toContain('evil')
  })
})

describe('the mail about notifications', () => {
  const facts = {
    merchant_name: 'Ama Shop',
    count: 12,
    since: noon,
    examples: [
      { id: 'TG-1-N1', url: 'https://shop.example/ipn', last_result: 'other_2xx', error: 'HTTP 204' },
    ],
    link,
  }
  test('has the count, the addresses and the reasons', () => {
    const { subject, text, html } = exhaustedMail(facts)
    expect(subject).toBe('12 notifications to Ama Shop could not be delivered')
    for (const content of [text, html])
      for (const words of [
        'TG-1-N1: https://shop.example/ipn',
        'which is required (HTTP 204)',
        'and 11 more',
        link,
      ])
        expect(content).toContain(words)
    expect(exhaustedMail({ ...facts, count: 1 }).text).toContain('One notification could not')
  })
  for (const words of hostile)
    test(`is safe with ${JSON.stringify(words.slice(0, 40))}`, () => {
      const example = { id: words, url: words, last_result: words, error: words }
      const { subject, text, html } = exhaustedMail({ ...facts, merchant_name: words, examples: [example] })
      const tame = exhaustedMail(facts)
      expect(tagsOf(html)).toEqual(tagsOf(tame.html))
      expect(text.split('\n')).toHaveLength(tame.text.split('\n').length)
      expect([...subject].length).toBeLessThanOrEqual(120)
      expect(subject).not.toMatch(/[\p{Cc}\p{Cf}]/u)
    })
})
