import { describe, expect, test } from 'vitest'
import { formSender, formTokenOf, isFormToken } from '../../src/core/formOrigin.ts'

const base = 'https://pay.example'

describe('who sent a form', () => {
  for (const [site, origin, host, baseUrl, sender] of [
    // What the browser says about the site comes first.
    ['cross-site', undefined, 'pay.example', base, 'other_site'],
    ['same-site', undefined, 'pay.example', base, 'other_site'],
    ['cross-site', 'https://pay.example', 'pay.example', base, 'other_site'],
    ['cross-site', 'null', 'pay.example', base, 'other_site'],
    ['a word of the future', 'null', 'pay.example', base, 'other_site'],
    ['same-origin', undefined, 'pay.example', base, 'own_page'],
    ['same-origin', 'null', 'pay.example', base, 'own_page'], // a browser of today, on a page without referrer
    ['same-origin', 'https://pay.example', 'pay.example', base, 'own_page'],
    ['same-origin', 'https://evil.example', 'pay.example', base, 'other_site'], // no browser says that
    ['none', undefined, 'pay.example', base, 'unproven'],
    ['none', 'null', 'pay.example', base, 'unproven'],
    ['none', 'https://pay.example', 'pay.example', base, 'own_page'],
    // Without it, the Origin counts.
    [undefined, undefined, 'pay.example', base, 'unproven'],
    [undefined, 'null', 'pay.example', base, 'unproven'],
    [undefined, '', 'pay.example', base, 'unproven'],
    [undefined, 'https://pay.example', 'pay.example', base, 'own_page'],
    [undefined, 'https://pay.example', '10.0.0.7:3000', base, 'own_page'], // a proxy rewrites Host
    [undefined, 'https://other.example', 'other.example', base, 'own_page'], // a second name of the gateway
    [undefined, 'https://other.example', undefined, base, 'other_site'],
    [undefined, 'http://pay.example', 'pay.example', base, 'own_page'], // TLS may end at a proxy
    [undefined, 'https://PAY.Example', 'pay.example', base, 'own_page'],
    [undefined, 'https://pay.example', 'PAY.EXAMPLE', 'http://127.0.0.1:3000', 'own_page'],
    [undefined, 'https://pay.example:443', 'x', base, 'own_page'],
    [undefined, 'https://pay.example', 'pay.example:443', 'http://127.0.0.1:3000', 'own_page'],
    [undefined, 'http://pay.example', 'pay.example:80', 'http://127.0.0.1:3000', 'own_page'],
    [undefined, 'https://pay.example', 'x', 'http://pay.example:80', 'own_page'],
    [undefined, 'https://pay.example:8443', 'pay.example:8443', base, 'own_page'],
    [undefined, 'https://pay.example:8443', 'x', 'https://pay.example:8443', 'own_page'],
    [undefined, 'https://pay.example:8443', 'pay.example', base, 'other_site'],
    [undefined, 'http://127.0.0.1:3001', '127.0.0.1:3000', 'http://127.0.0.1:3000', 'other_site'],
    [undefined, 'http://[::1]:3000', '[::1]:3000', base, 'own_page'],
    [undefined, 'http://[0:0::1]:3000', '[::1]:3000', base, 'own_page'],
    [undefined, 'http://[::1]', 'x', 'http://[::1]:80', 'own_page'],
    [undefined, 'http://[::2]:3000', '[::1]:3000', base, 'other_site'],
    [undefined, 'https://bücher.example', 'xn--bcher-kva.example', base, 'own_page'],
    // What only looks like ours.
    [undefined, 'https://evil.example', 'pay.example', base, 'other_site'],
    [undefined, 'https://pay.example.evil.example', 'pay.example', base, 'other_site'],
    [undefined, 'https://evil.example/pay.example', 'pay.example', base, 'other_site'],
    [undefined, 'https://pay.example@evil.example', 'pay.example', base, 'other_site'],
    [undefined, 'https://xpay.example', 'pay.example', base, 'other_site'],
    [undefined, 'https://pay.example.', 'pay.example', base, 'other_site'],
    [undefined, 'null, https://pay.example', 'pay.example', base, 'other_site'], // sent twice
    [undefined, 'https://pay.example, null', 'pay.example', base, 'other_site'],
    [undefined, 'https://evil.example, https://pay.example', 'pay.example', base, 'other_site'],
    [undefined, 'file://', 'pay.example', base, 'other_site'],
    [undefined, 'file://pay.example', 'pay.example', base, 'other_site'],
    [undefined, 'moz-extension://pay.example', 'pay.example', base, 'other_site'],
    [undefined, 'pay.example', 'pay.example', base, 'other_site'],
    [undefined, 'nonsense', 'pay.example', base, 'other_site'],
    [undefined, 'NULL', 'pay.example', base, 'other_site'],
    [undefined, 'https://evil.example', 'a b', base, 'other_site'], // a Host that cannot be read equals nothing
    [undefined, 'https://evil.example', '', 'nonsense', 'other_site'],
  ] as const)
    test(`site ${site}, Origin ${origin}, Host ${host}, base ${baseUrl}: ${sender}`, () =>
      expect(formSender({ site, origin, host }, baseUrl)).toBe(sender))
})

describe('a form token', () => {
  const key = Buffer.alloc(32, 1)
  const token = formTokenOf(key, ['checkout', 'abc'])

  test('is good for its page and its key alone', () => {
    expect(isFormToken(formTokenOf(key, ['checkout', 'abc']), token)).toBe(true)
    for (const page of [['checkout', 'abd'], ['support', 'abc'], ['checkout abc'], ['checkout', 'abc', '']])
      expect(isFormToken(formTokenOf(key, page), token)).toBe(false)
    expect(isFormToken(formTokenOf(Buffer.alloc(32, 2), ['checkout', 'abc']), token)).toBe(false)
  })

  for (const sent of [undefined, null, '', 'x', 42, [token], `${token}=`, token.slice(1), `${token}\u00e9`])
    test(`is not ${JSON.stringify(sent)}`, () => expect(isFormToken(token, sent)).toBe(false))
})
