import { expect, test } from 'vitest'
import {
  type SettingChange,
  applySettingChanges,
  splitSecrets,
} from '../../../src/core/provider/accountSettings.ts'

const known = [
  { name: 'url', words: 'Where it is.' },
  { name: 'key', words: 'From the desk.', isSecret: true },
  { name: 'shop', words: 'The shop.', usual: '1' },
]

test('missing, unknown, repeated and malformed settings are reported together, without their values', () => {
  const changes: SettingChange[] = [
    ['kye', 'sk_live_secret'],
    ['shop', '2'],
    ['shop', '3\u0007'],
  ]
  expect(applySettingChanges(known, {}, changes).faults).toEqual([
    'kye: no such setting; there are url, key, shop',
    'shop: is given twice',
    'shop: must not contain control characters',
    'url: is missing. Where it is.',
    'key: is missing. From the desk.',
  ])
  expect(applySettingChanges(known, {}, [['key', 'x'.repeat(4001)]]).faults).toContain(
    'key: at most 4000 characters',
  )
})

test('unchanged settings stay, and an empty value resets a setting to its default', () => {
  const before = { url: 'u', key: 'k', shop: '7' }
  expect(applySettingChanges(known, before, [['key', 'new']])).toEqual({
    values: { ...before, key: 'new' },
    faults: [],
  })
  expect(applySettingChanges(known, before, [['shop', '']])).toEqual({
    values: { url: 'u', key: 'k' },
    faults: [],
  })
  expect(applySettingChanges(known, before, [['key', '']]).faults).toEqual([
    'key: is missing. From the desk.',
  ])
})

test('a key may have several lines', () => {
  expect(applySettingChanges(known, { url: 'u' }, [['key', 'a\nb\r\nc']]).faults).toEqual([])
})

test('secrets are separated, and so are settings that the provider does not list any more', () => {
  expect(splitSecrets(known, { url: 'u', key: 'k', former: 'f' })).toEqual({
    settings: { url: 'u' },
    secrets: { key: 'k', former: 'f' },
  })
})
