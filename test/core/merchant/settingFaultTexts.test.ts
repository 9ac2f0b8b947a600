import { expect, test } from 'vitest'
import { settingFaultIn } from '../../../src/core/merchant/settingFaultTexts.ts'
import { changeSettings, merchantSettingNames } from '../../../src/core/merchant/settings.ts'

const wrong = [
  'x , -1 99999999999 0 0.001 ABC:5 GHS:5 5,6 5,GHS:1,GHS:2 UGX:1.5 1234567890123 1%;2% 101% ; #ffff00 #zz'.split(
    ' ',
  ),
  ['1% + 200.001', '1% + 0.2, at least 5, at most 1', 'a b', 'extra_name', 'basic', 'a\nb', 'x'.repeat(2000)],
  [Array.from({ length: 30 }, (_, n) => `https://s${n}.example`).join(',')],
].flat()

test('every fault of a setting is in French on a French page', () => {
  const faults = merchantSettingNames.flatMap(name =>
    wrong.flatMap(value =>
      changeSettings({}, [`${name}=${value}`]).faults.map(fault => fault.replace(/^\w+: /, '')),
    ),
  )
  faults.push(
    ...changeSettings({}, ['min_total=50', 'max_total=5']).faults.map(text => text.replace(/^\w+: /, '')),
  )
  const distinct = [...new Set(faults)]
  expect(distinct.length).toBeGreaterThan(30)
  expect(
    distinct.filter(fault => settingFaultIn(fault, 'fr') === fault).map(fault => fault.slice(-80)),
  ).toEqual([])
  for (const fault of distinct) expect(settingFaultIn(fault, 'en')).toBe(fault)
})

for (const [english, french] of [
  ['must be from 5 to 10080', 'doit être compris entre 5 et 10080'],
  [
    'an empty word is not an origin such as https://shop.example',
    'un mot vide n’est pas une origine comme https://shop.example',
  ],
  ['a sentence of tomorrow', 'a sentence of tomorrow'],
] as const)
  test(`"${english}" is "${french}"`, () => expect(settingFaultIn(english, 'fr')).toBe(french))
