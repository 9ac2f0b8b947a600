import { expect, test } from 'vitest'
import { jsx, raw } from '../../../src/core/markup/jsx-runtime.ts'
import { cachedFragment } from '../../../src/core/markup/fragmentCache.ts'

const evil = `<b>&"'`
const harmless = '&lt;b&gt;&amp;&quot;&#39;'
const english = { greeting: 'Hello' }

// A greeting of a shop, and how often it was drawn.
function greeter() {
  const drawn: unknown[] = []
  const greet = cachedFragment(
    ({ greeting }: typeof english, facts: { shop?: string; loud?: boolean }, gap) => {
      drawn.push(facts)
      const words = [greeting, ', ', gap('name'), ' at ', facts.shop, facts.loud && '!']
      return jsx('p', { title: gap('name'), children: words })
    },
  )
  return { drawn, greet: (...given: Parameters<typeof greet>) => String(greet(...given)) }
}

test('what was drawn once is filled in with the values of each page', () => {
  const { drawn, greet } = greeter()
  expect(greet(english, { shop: 'A' }, { name: 'Ama' })).toBe('<p title="Ama">Hello, Ama at A</p>')
  expect(greet(english, { shop: 'A' }, { name: 'Kofi' })).toBe('<p title="Kofi">Hello, Kofi at A</p>')
  expect(drawn).toHaveLength(1)
})

test('whatever it is cachedFragment by makes another one of it', () => {
  const { drawn, greet } = greeter()
  const french = { greeting: 'Bonjour' }
  for (const [about, facts, words] of [
    [english, { shop: 'A' }, 'Hello, x at A'],
    [english, { shop: 'B' }, 'Hello, x at B'],
    [english, { shop: 'A', loud: true }, 'Hello, x at A!'],
    [english, { shop: 'A', loud: false }, 'Hello, x at A'],
    [english, { shop: '' }, 'Hello, x at '],
    [english, {}, 'Hello, x at '],
    [french, { shop: 'A' }, 'Bonjour, x at A'],
    [{ greeting: 'Hello' }, { shop: 'A' }, 'Hello, x at A'], // another one that says the same
  ] as const)
    expect(greet(about, facts, { name: 'x' })).toBe(`<p title="x">${words}</p>`)
  expect(drawn).toHaveLength(8)
})

test('a value is escaped, markup is not, and none is nothing', () => {
  const { greet } = greeter()
  expect(greet(english, { shop: evil }, { name: evil })).toBe(
    `<p title="${harmless}">Hello, ${harmless} at ${harmless}</p>`,
  )
  const bold = cachedFragment((_: object, __: object, gap) => jsx('p', { children: gap('inside') }))
  expect(String(bold(english, {}, { inside: jsx('b', { children: evil }) }))).toBe(
    `<p><b>${harmless}</b></p>`,
  )
  expect(String(bold(english, {}, { inside: raw('<i>') }))).toBe('<p><i></p>')
  for (const inside of [undefined, null, false, ''])
    expect(String(bold(english, {}, { inside }))).toBe('<p></p>')
  expect(String(bold(english, {}, { inside: [7, 'x'] }))).toBe('<p>7x</p>')
})

test('it may be drawn from inside another, and be nothing at all', () => {
  const inner = cachedFragment((_: object, __: object, gap) => jsx('b', { children: gap('name') }))
  const outer = cachedFragment((_: object, __: object, gap) => jsx('p', { children: gap('inner') }))
  const page = (name: string) => String(outer(english, {}, { inner: inner(english, {}, { name }) }))
  expect([page('Ama'), page('Kofi')]).toEqual(['<p><b>Ama</b></p>', '<p><b>Kofi</b></p>'])
  expect(String(cachedFragment(() => null)(english, {}, {}))).toBe('')
})

test('it does not keep more and more: the oldest goes', () => {
  const { drawn, greet } = greeter()
  for (let shop = 0; shop <= 500; shop++) greet(english, { shop: String(shop) }, { name: 'x' })
  greet(english, { shop: '500' }, { name: 'x' })
  greet(english, { shop: '1' }, { name: 'x' })
  expect(drawn).toHaveLength(501)
  greet(english, { shop: '0' }, { name: 'x' })
  expect(drawn).toHaveLength(502)
})
