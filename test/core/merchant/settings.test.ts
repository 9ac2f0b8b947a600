import { expect, test } from 'vitest'
import {
  changeSettings,
  readMerchantSettings,
  merchantSettingNames,
  unreadableSettings,
} from '../../../src/core/merchant/settings.ts'

test('the defaults are those of the contract', () => {
  expect(readMerchantSettings({})).toEqual({
    errors_as_200: false,
    unsigned_requests: false,
    signed_status_checks: false,
    retry_after_failure: true,
    reopen_unpaid: true,
    long_invoice_ids: false,
    allowed_origins: [],
    frame_origins: [],
    public_extra: [],
    min_total: { every: 1n, own: {} },
    max_total: { every: 99_999_999n, own: {} },
    currencies: ['GHS'],
    payment_methods: [],
    providers: [],
    rate_limit: 1000,
    rate_burst: 2000,
    expiry_minutes: 60,
    ipn_url: null,
    ipn_style: 'post',
    form_ipn_url: 'any',
    contact_email: null,
    accent: null,
    support_phone: null,
    support_email: null,
    terms_url: null,
    refund_policy: null,
    refunds: false,
    refund_daily_limit: null,
    refund_confirm_above: null,
    refund_approval_above: null,
    ipn_refunds: false,
    ipn_taken_payments: false,
    fee: { rules: [] },
    provider_fee: 'merchant',
    fee_on_refund: 'keep',
  })
})

for (const [change, name, value] of [
  ['errors_as_200=on', 'errors_as_200', true],
  ['retry_after_failure=off', 'retry_after_failure', false],
  [
    'allowed_origins=https://a.example, http://localhost:3000',
    'allowed_origins',
    ['https://a.example', 'http://localhost:3000'],
  ],
  ['frame_origins=https://a.example', 'frame_origins', ['https://a.example']],
  ['public_extra=table, extra_order.no,extra_table', 'public_extra', ['table', 'order.no']],
  ['reopen_unpaid=off', 'reopen_unpaid', false],
  ['long_invoice_ids=on', 'long_invoice_ids', true],
  ['min_total=0.50', 'min_total', { every: 50n, own: {} }],
  ['max_total=0.50,UGX:900', 'max_total', { every: 50n, own: { UGX: 900n } }],
  ['currencies=EUR', 'currencies', ['EUR']],
  ['currencies=UGX,XOF', 'currencies', ['UGX', 'XOF']],
  ['currencies=USD, GHS,USD', 'currencies', ['USD', 'GHS']],
  ['payment_methods=card, mtn_mobile_money,card', 'payment_methods', ['card', 'mtn_mobile_money']],
  ['providers=mtn-4f7k2q,paystack', 'providers', ['mtn-4f7k2q', 'paystack']],
  ['rate_limit=0', 'rate_limit', 0],
  ['expiry_minutes=10080', 'expiry_minutes', 10_080],
  ['ipn_url=https://a.example/ipn?a=b', 'ipn_url', 'https://a.example/ipn?a=b'],
  ['ipn_style=get', 'ipn_style', 'get'],
  ['form_ipn_url=registered', 'form_ipn_url', 'registered'],
  ['contact_email=ops@a.example', 'contact_email', 'ops@a.example'],
  ['accent=#0B6B4F', 'accent', '#0b6b4f'],
  ['support_phone=030 255 0100', 'support_phone', '+233302550100'],
  ['support_phone=+44 20 7946 0000', 'support_phone', '+442079460000'],
  ['support_email=help@a.example', 'support_email', 'help@a.example'],
  ['terms_url=https://a.example/terms?lang=en', 'terms_url', 'https://a.example/terms?lang=en'],
  ['refund_policy=Refunds within 7 days', 'refund_policy', 'Refunds within 7 days'],
  ['refunds=on', 'refunds', true],
  ['refund_daily_limit=500', 'refund_daily_limit', { every: 50_000n, own: {} }],
  ['refund_daily_limit=500,UGX:90000', 'refund_daily_limit', { every: 50_000n, own: { UGX: 90_000n } }],
  ['ipn_refunds=on', 'ipn_refunds', true],
] as const) {
  test(`${change} is read`, () => {
    const { texts, faults } = changeSettings({}, [change])
    expect(faults).toEqual([])
    expect(readMerchantSettings(texts)[name]).toEqual(value)
  })
}

for (const change of [
  'errors_as_200=yes',
  'allowed_origins=shop.example',
  'allowed_origins=https://a.example/path',
  'allowed_origins=ftp://a.example',
  'frame_origins=*',
  'frame_origins=https://*.a.example',
  'frame_origins=https://a.example/',
  "frame_origins=https://a.example;script-src'self'",
  `frame_origins=${Array.from({ length: 21 }, (_, at) => `https://a${at}.example`).join(',')}`,
  'public_extra=two words',
  'public_extra=table,',
  'public_extra=extra_',
  'public_extra=extra_email',
  'public_extra=Mobile_no',
  'refunds=yes',
  'refund_daily_limit=0',
  'refund_daily_limit=UGX:500',
  'refund_daily_limit=a lot',
  'ipn_refunds=post',
  'min_total=-1',
  'min_total=1e3',
  'max_total=0',
  'max_total=5,UGX:0.5',
  'max_total=5,XAU:5',
  'currencies=,',
  'currencies= ',
  'currencies=GHS,',
  'currencies=ghs',
  'currencies=GHS,XAU',
  'currencies=GHS USD',
  'payment_methods=,',
  'payment_methods=MTN MoMo',
  'payment_methods=card;drop',
  'providers=mtn-4f7k2',
  'providers=mtn,',
  'providers=mtn paystack',
  'rate_limit=fast',
  'rate_burst=0',
  'expiry_minutes=4',
  'expiry_minutes=10081',
  'ipn_url=nowhere',
  'ipn_style=put',
  'ipn_style=basic',
  'form_ipn_url=own',
  'contact_email=nobody',
  'accent=green',
  'accent=#ffcc00',
  'support_phone=help',
  'support_phone=12',
  'support_email=nobody',
  'terms_url=javascript:alert(1)',
  'terms_url=/terms',
  `refund_policy=${'x'.repeat(61)}`,
  'refund_policy=two\nlines',
  'refund_policy=  ',
  'no_such=on',
  'errors_as_200',
  '',
]) {
  test(`${change || 'nothing'} is refused by name`, () => {
    const { faults } = changeSettings({}, [change])
    expect(faults).toHaveLength(1)
    expect(faults[0]).toContain(change.split('=')[0])
  })
}

test('all faults are returned together', () => {
  expect(changeSettings({}, ['rate_limit=x', 'ipn_style=y', 'none=z']).faults).toHaveLength(3)
})

test('limits that cross each other are refused', () => {
  expect(changeSettings({}, ['min_total=10', 'max_total=5']).faults[0]).toContain('min_total')
})

for (const [before, change, isTaken] of [
  [{}, ['ipn_style=basic', 'ipn_url=https://a.example/ipn'], true],
  [{}, ['ipn_style=basic', 'allowed_origins=https://a.example'], true],
  [{ ipn_url: 'https://a.example/ipn' }, ['ipn_style=basic'], true],
  [{ ipn_url: 'https://a.example/ipn' }, ['ipn_style=basic', 'ipn_url='], false],
  [{ ipn_style: 'basic', ipn_url: 'https://a.example/ipn' }, ['ipn_url='], false],
  [{ ipn_style: 'basic', allowed_origins: 'https://a.example' }, ['allowed_origins='], false],
  [
    { ipn_style: 'basic', ipn_url: 'https://a.example/ipn', allowed_origins: 'https://a.example' },
    ['ipn_url='],
    true,
  ],
  [{ ipn_style: 'basic', ipn_url: 'https://a.example/ipn' }, ['ipn_url=', 'ipn_style='], true],
  // Set by an older version: other settings can be changed, and this one can be set right.
  [{ ipn_style: 'basic' }, ['expiry_minutes=30'], true],
  [{ ipn_style: 'basic' }, ['ipn_url=https://a.example/ipn'], true],
  [{ ipn_style: 'basic' }, ['ipn_style=basic'], false],
] as const)
  test(`style basic needs an origin for its password: ${JSON.stringify(before)}, ${change.join(' ')}`, () => {
    const { faults } = changeSettings(before, change)
    expect(faults).toEqual(isTaken ? [] : [expect.stringContaining('ipn_style: basic sends a password')])
    if (!isTaken) expect(faults[0]).toMatch(/ipn_url=https:.* or allowed_origins=https:/)
  })

test('an empty value restores the default', () => {
  const { texts } = changeSettings({ rate_limit: '5' }, ['rate_limit='])
  expect(texts).toEqual({})
  expect(merchantSettingNames).toEqual(Object.keys(readMerchantSettings({})))
})

test('each is read separately: an unreadable one is listed and has its default', () => {
  const texts = { rate_limit: 'as you like', ipn_style: 'hologram', min_total: '5.00' }
  expect(unreadableSettings(texts)).toEqual(['rate_limit', 'ipn_style'])
  expect(readMerchantSettings(texts)).toEqual({
    ...readMerchantSettings({}),
    min_total: { every: 500n, own: {} },
  })
})

for (const texts of [null, 7, 'off', [], ['rate_limit']] as never[])
  test(`${JSON.stringify(texts)} instead of settings: none can be read, all can be set`, () => {
    expect(readMerchantSettings(texts)).toEqual(readMerchantSettings({}))
    expect(unreadableSettings(texts)).toEqual(merchantSettingNames)
    expect(changeSettings(texts, ['rate_limit=5'])).toEqual({ texts: { rate_limit: '5' }, faults: [] })
  })

for (const value of [5, true, null, { of: 'a newer version' }] as never[])
  test(`a setting that is ${JSON.stringify(value)}: cannot be read, can be mended`, () => {
    const texts = { rate_limit: value, ipn_style: 'hologram' }
    expect(unreadableSettings(texts)).toEqual(['rate_limit', 'ipn_style'])
    expect(changeSettings(texts, ['rate_limit=5'])).toEqual({
      texts: { rate_limit: '5', ipn_style: 'hologram' },
      faults: [],
    })
    expect(changeSettings(texts, ['rate_limit='])).toEqual({ texts: { ipn_style: 'hologram' }, faults: [] })
    expect(changeSettings(texts, ['rate_limit=fast']).faults).toHaveLength(1)
  })

test('a list of currencies that is empty cannot be read', () => {
  expect(unreadableSettings({ currencies: '' })).toEqual(['currencies'])
})

test('a changed text is parsed again, and the cached settings cannot be modified', () => {
  const texts = { rate_limit: '5', allowed_origins: 'https://shop.example' }
  const read = readMerchantSettings({ ...texts })
  expect(readMerchantSettings({ ...texts })).toBe(read)
  expect(readMerchantSettings({ ...texts, rate_limit: '6' }).rate_limit).toBe(6)
  expect(readMerchantSettings({ ...texts, rate_limit: 'x' }).rate_limit).toBe(1000)
  expect(unreadableSettings({ ...texts, rate_limit: 'x' })).toEqual(['rate_limit'])
  expect(() => read.allowed_origins.push('https://evil.example')).toThrow(TypeError)
  expect(() => Object.assign(read, { rate_limit: 7 })).toThrow(TypeError)
})
