import { expect, test } from 'vitest'
import { type Child, Fragment, jsx, raw } from '../../../src/core/markup/jsx-runtime.ts'

const html = (tag: Parameters<typeof jsx>[0], props = {}) => String(jsx(tag, props))
const evil = `<b>&"'`
const harmless = '&lt;b&gt;&amp;&quot;&#39;'

for (const [what, child, written] of [
  ['a text is escaped', evil, harmless],
  ['also deep in a list', [[evil], [null, [evil]]], harmless + harmless],
  ['a number is written', [0, 7, 12n], '0712'],
  ['nothing is nothing', [null, undefined, true, false, ''], ''],
  ['markup stays as it is', raw('<i>x</i>'), '<i>x</i>'],
  ['an element is markup', jsx('i', { children: evil }), `<i>${harmless}</i>`],
  [
    'an object that looks like markup is none',
    { html: evil, isMarkup: true, toString: () => evil },
    harmless,
  ],
] as [string, Child, string][])
  test(what, () => expect(html('p', { children: child })).toBe(`<p>${written}</p>`))

for (const [what, props, written] of [
  ['a value is escaped', { title: evil }, ` title="${harmless}"`],
  ['also that of an object', { title: { toString: () => evil } }, ` title="${harmless}"`],
  ['also markup', { title: raw('<i>') }, ' title="&lt;i&gt;"'],
  ['none is left out', { a: undefined, b: null }, ''],
  ['a switch is there or not', { hidden: true, checked: false }, ' hidden=""'],
  [
    'all others say what they are',
    { spellcheck: false, 'data-print': true },
    ' spellcheck="false" data-print="true"',
  ],
  ['a number is a value', { tabindex: -1, value: 0 }, ' tabindex="-1" value="0"'],
] as [string, object, string][])
  test(`of attributes, ${what}`, () => expect(html('p', props)).toBe(`<p${written}></p>`))

test('a name that is none, and a function for a value, are bugs', () => {
  for (const name of ['a b', 'a"', 'a>', 'a=', '', '/']) expect(() => jsx('p', { [name]: 'x' })).toThrow()
  expect(() => jsx('p', { onclick: () => {} })).toThrow()
})

test('what holds nothing has no end', () => expect(html('br')).toBe('<br/>'))

test('a component may give back anything that may stand in an element', () => {
  for (const [given, written] of [
    [null, ''],
    [evil, harmless],
    [[evil, raw('<i>')], `${harmless}<i>`],
    [7, '7'],
  ] as [Child, string][])
    expect(html(() => given)).toBe(written)
  expect(html(Fragment as never, { children: [evil, jsx('br', {})] })).toBe(`${harmless}<br/>`)
})
