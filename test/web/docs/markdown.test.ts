import { expect, test } from 'vitest'
import { anchorOfHeading, parseMarkdown } from '../../../src/web/docs/markdown/blocks.ts'
import { inlineHtml, plainInline } from '../../../src/web/docs/markdown/inline.ts'
import { renderBlocks } from '../../../src/web/docs/markdown/render.ts'

const targetOf = (href: string) => (href === 'nowhere' ? undefined : href)
const inline = (text: string) => inlineHtml(text, targetOf)
const html = (text: string) => renderBlocks(parseMarkdown(text), { targetOf })

for (const [what, text, written] of [
  ['code', 'a `b` c', 'a <code>b</code> c'],
  ['code with marks in it', '`**a** [b](c) <i>`', '<code>**a** [b](c) &lt;i&gt;</code>'],
  ['bold', '**a `b`**', '<strong>a <code>b</code></strong>'],
  ['italics', 'an *order* is', 'an <em>order</em> is'],
  ['stars that are not italics', '2 * 3 * 4, line_items*', '2 * 3 * 4, line_items*'],
  ['a link', '[the *page*](a.md#b)', '<a href="a.md#b">the <em>page</em></a>'],
  ['a link that leads nowhere', 'see [it](nowhere)', 'see it'],
  ['an escape', '\\*a\\*', '*a*'],
  ['HTML', '<script>alert(1)</script> & "x"', '&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;x&quot;'],
  ['an address with quotes', '[a](x"onclick="y)', '<a href="x&quot;onclick=&quot;y">a</a>'],
] as const)
  test(`inline: ${what}`, () => expect(inline(text)).toBe(written))

test('the text of inline marks has none of them', () => {
  expect(plainInline('the **big** `a|b` [page](x) and *one*')).toBe('the big a|b page and one')
})

for (const [what, text, written] of [
  ['a paragraph of two lines', 'a\nb\n\nc', '<p>a b</p>\n<p>c</p>'],
  ['a list', '- a\n- b\n  c', '<ul><li>a</li>\n<li>b c</li></ul>'],
  ['a list in a list', '1. a\n   - b\n2. c', '<ol><li>a\n<ul><li>b</li></ul></li>\n<li>c</li></ol>'],
  ['a list that continues after code', '3. a\n\n4. b', '<ol start="3"><li>a</li>\n<li>b</li></ol>'],
  ['a list ends at text', '- a\n\nb', '<ul><li>a</li></ul>\n<p>b</p>'],
] as const)
  test(`block: ${what}`, () => expect(html(text)).toBe(written))

test('a table has the title of the column with each cell, and bars in cells', () => {
  const table = html('| A | B |\n|---|---|\n| `x\\|y` | 1 |')
  expect(table).toContain('<th role="columnheader" scope="col">A</th>')
  expect(table).toContain('<td role="cell" data-label="A"><code>x|y</code></td>')
  expect(table).toContain('<td role="cell" data-label="B">1</td>')
})

test('code is kept as it is, also in a list', () => {
  expect(html('```sh\na <b>\n\n# c\n```')).toContain('<code>a &lt;b&gt;\n\n# c</code>')
  expect(html('1. a\n\n   ```sh\n   b\n     c\n   ```\n2. d')).toContain('<code>b\n  c</code>')
})

test('a heading has the anchor that GitHub gives it, and a second one of the same name another', () => {
  expect(anchorOfHeading('What `npm test` does, and why')).toBe('what-npm-test-does-and-why')
  const ids = parseMarkdown('# A\n## B\n### B').map(block => block.kind === 'heading' && block.id)
  expect(ids).toEqual(['a', 'b', 'b-1'])
})
