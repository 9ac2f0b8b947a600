import { DocsFrame, type DocsSite, OnThisPage, Prose, referencePath, type TocEntry } from './docsFrame.tsx'
import { type DocPage, type Library, linksOf } from './library.ts'
import { plainInline } from './markdown/inline.ts'
import { renderBlocks } from './markdown/render.ts'
import { type Found, maxResults } from './search.ts'

const tocOf = ({ blocks }: DocPage): TocEntry[] =>
  blocks.flatMap(block =>
    block.kind === 'heading' && block.level === 2
      ? [{ id: block.id, text: plainInline(block.text), level: block.level }]
      : [],
  )

type ArticleProps = { library: Library; site: DocsSite; page: DocPage }

// A page of the repository.
export const ArticlePage = ({ library, site, page }: ArticleProps) => {
  const all = library.groups.flatMap(({ pages }) => pages)
  const at = all.indexOf(page)
  const [before, after] = at === -1 ? [] : [all[at - 1], all[at + 1]]
  const html = renderBlocks(page.blocks, { targetOf: linksOf(library, page.file) })
  return (
    <DocsFrame site={site} title={page.title} path={page.path} aside={<OnThisPage entries={tocOf(page)} />}>
      <article class="card roomy">
        <Prose html={html} />
      </article>
      <nav class="docs-next" aria-label="Neighbouring pages">
        {before && (
          <a class="before" href={before.path}>
            <span class="tiny muted">Previous</span>
            {before.label}
          </a>
        )}
        {after && (
          <a class="after" href={after.path}>
            <span class="tiny muted">Next</span>
            {after.label}
          </a>
        )}
      </nav>
      <p class="tiny muted docs-source">
        <a href={`${page.path}.md`}>This page as Markdown</a>
      </p>
    </DocsFrame>
  )
}

export const DocsStartPage = ({ site }: { site: DocsSite }) => (
  <DocsFrame site={site} title="Documentation" path="/docs">
    <div class="docs-intro">
      <h1>Documentation</h1>
      <p class="muted">
        Of this gateway, as it runs here. A shop is connected in four steps: sign, send, redirect, check.
      </p>
    </div>
    <div class="docs-first">
      <a class="card" href="/docs/quickstart">
        <b>Quickstart</b>
        <span class="small muted">From an empty folder to a paid order in fifteen minutes.</span>
      </a>
      <a class="card" href={referencePath}>
        <b>API reference</b>
        <span class="small muted">Every operation and field. Try it out here, signed in your browser.</span>
      </a>
      <a class="card" href="/docs/sandbox">
        <b>Test every ending</b>
        <span class="small muted">Numbers, cards and totals for paid, declined, late and more.</span>
      </a>
      <a class="card" href="/docs/errors">
        <b>Error codes</b>
        <span class="small muted">Each with its cause and its cure.</span>
      </a>
    </div>
    {site.groups.map(({ title, pages }) => (
      <section class="docs-list">
        <h2>{title}</h2>
        <ul class="card">
          {pages.map(page => (
            <li>
              <a href={page.path}>{page.label}</a>
              <span class="small muted">{page.about}</span>
            </li>
          ))}
        </ul>
      </section>
    ))}
    <p class="small muted">
      For programs: <a href="/openapi.json">/openapi.json</a> describes the interface as OpenAPI, and{' '}
      <a href="/llms.txt">/llms.txt</a> is a short guide for language models.
    </p>
  </DocsFrame>
)

const countWords = (count: number) =>
  count === 0
    ? 'Nothing found'
    : count === 1
      ? '1 section'
      : count < maxResults
        ? `${count} sections`
        : `The best ${count} sections`

type DocsSearchPageProps = { site: DocsSite; query: string; found: readonly Found[] }

export const DocsSearchPage = ({ site, query, found }: DocsSearchPageProps) => (
  <DocsFrame site={site} title={`Search: ${query}`} path="/docs" query={query}>
    <div class="docs-intro">
      <h1>
        {countWords(found.length)} <span class="muted">for {query}</span>
      </h1>
    </div>
    {found.length === 0 ? (
      <div class="empty">
        <p>
          No section has all of these words. Try fewer or shorter words; an error code such as GW-012 and the
          name of a field work too.
        </p>
        <a class="btn plain small" href="/docs">
          All pages
        </a>
      </div>
    ) : (
      <ol class="docs-found card">
        {found.map(({ page, title, path, snippet }) => (
          <li>
            <a href={path}>{title}</a>
            {page !== title && <span class="tiny muted">{page}</span>}
            <p class="small">{snippet.map(({ text, isMatch }) => (isMatch ? <mark>{text}</mark> : text))}</p>
          </li>
        ))}
      </ol>
    )}
  </DocsFrame>
)
