import { describe, expect, test } from 'vitest'
import { mailboxOf } from '../../../src/core/message/messageRules.ts'

describe('one mailbox', () => {
  for (const [mailbox, ...spellings] of [
    [
      'ama@shop.example',
      'Ama@Shop.Example',
      'AMA@SHOP.EXAMPLE',
      'ama+hats@shop.example',
      'ama++@shop.example',
    ],
    ['a.ma@shop.example', 'A.Ma+1@shop.example'], // dots count elsewhere
    ['ama@gmail.com', 'a.m.a@gmail.com', 'AMA+x+y@googlemail.com', 'a.ma@GoogleMail.com'],
    ['jos\u00e9@shop.example', 'jose\u0301@shop.example', 'JOS\u00c9@shop.example'],
    [
      'ama@xn--mller-kva.example',
      'ama@m\u00fcller.example',
      'ama@MU\u0308LLER.example',
      'Ama@XN--MLLER-KVA.example',
    ],
    ['ama@shop.example', 'ama@shop\u3002example', 'ama@\uff53hop.example'], // as a browser reads them
    ['+233241234567', '+233241234567'],
  ] as const)
    for (const spelling of [mailbox, ...spellings])
      test(`${JSON.stringify(spelling)} is ${mailbox}`, () => expect(mailboxOf(spelling)).toBe(mailbox))
})

describe('another mailbox', () => {
  for (const [one, other] of [
    ['ama@shop.example', 'ama@www.shop.example'],
    ['ama@shop.example', 'kofi@shop.example'],
    ['a.ma@shop.example', 'ama@shop.example'],
    ['ama-hats@shop.example', 'ama@shop.example'],
    ['+ama@shop.example', '+kofi@shop.example'], // nothing stands before the tag
    ['ama@gmail.com', 'ama@gmail.com.example'],
  ] as const)
    test(`${one} is not ${other}`, () => expect(mailboxOf(one)).not.toBe(mailboxOf(other)))
})

test('a text that is not an address is counted as it is', () => {
  for (const odd of ['', '@', 'ama@', '@shop.example', 'ama@@x', 'a@b c', 'ama@[::1]', '\ud800@x.example'])
    expect(typeof mailboxOf(odd)).toBe('string')
  expect(mailboxOf('ama@exa mple.com')).not.toBe(mailboxOf('kofi@exa mple.com'))
  expect(mailboxOf('ama@one_two..example')).not.toBe(mailboxOf('ama@three..example'))
})
