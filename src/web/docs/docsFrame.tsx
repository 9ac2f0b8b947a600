import { type Child, type PropsWithChildren, raw } from '../../core/markup/jsx-runtime.ts'
import { PageFrame, pageHeaders, pagePolicy, SiteHeader, type SitePlace } from '../../core/markup/page.tsx'
import type { PageGroup } from './library.ts'

// The page loads only from this origin, and sends a developer's input only to it. No script turns text into markup.
const { 'cache-control': _, ...uncachedHeaders } = pageHeaders(
  `${pagePolicy("script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'")}; ` +
    "require-trusted-types-for 'script'; trusted-types 'none'",
)
export const docsHeaders = { ...uncachedHeaders, 'cache-control': 'no-cache' }

// What is the same on every page of the documentation.
export type DocsSite = { groups: readonly PageGroup[]; places: readonly SitePlace[] }

export const referencePath = '/docs/api'

type DocsFrameProps = PropsWithChildren<{
  site: DocsSite
  title: string
  path: string
  query?: string
  aside?: Child // beside the article on a wide screen
  scripts?: readonly string[]
}>

export const DocsFrame = ({ site, title, path, query, aside, scripts = [], children }: DocsFrameProps) => (
  <PageFrame
    lang="en"
    title={`${title} · Tollgate`}
    isListed
    styles={['/docs/docs.css']}
    head={<link rel="icon" href="/public/icon.svg" />}
    header={<SiteHeader places={site.places} current="docs" />}
  >
    <div class="page docs">
      <div class="docs-side">
        <SearchForm query={query} />
        <nav class="docs-nav only-d" aria-label="Documentation">
          <PageLinks site={site} path={path} />
        </nav>
        <details class="docs-menu only-p card">
          <summary>All pages</summary>
          <nav class="docs-nav" aria-label="All pages">
            <PageLinks site={site} path={path} />
          </nav>
        </details>
      </div>
      <main class="docs-main">{children}</main>
      {aside}
    </div>
    {['/public/copy.js', ...scripts].map(source => (
      <script src={source} defer={true}></script>
    ))}
  </PageFrame>
)

const SearchForm = ({ query }: { query?: string }) => (
  <form class="docs-search" action="/docs" method="get" role="search">
    <label class="sr" for="q">
      Search the documentation
    </label>
    <input
      class="input dense"
      id="q"
      name="q"
      type="search"
      value={query}
      placeholder="GW-010"
      maxlength={100}
    />
    <button class="btn plain small" type="submit">
      Search
    </button>
  </form>
)

const PageLinks = ({ site, path }: { site: DocsSite; path: string }) => (
  <>
    {site.groups.map(({ title, pages }, at) => (
      <>
        <p class="docs-group">{title}</p>
        <ul>
          {at === 0 && <PageLink title="API reference" target={referencePath} path={path} />}
          {pages.map(page => (
            <PageLink title={page.label} target={page.path} path={path} />
          ))}
        </ul>
      </>
    ))}
  </>
)

const PageLink = ({ title, target, path }: { title: string; target: string; path: string }) => (
  <li>
    <a href={target} aria-current={target === path ? 'page' : undefined}>
      {title}
    </a>
  </li>
)

export type TocEntry = { id: string; text: string; level: number }

// The headings of a page, beside it.
export const OnThisPage = ({ entries }: { entries: readonly TocEntry[] }) =>
  entries.length < 2 ? (
    ''
  ) : (
    <nav class="docs-toc" aria-labelledby="on-this-page">
      <p class="docs-group" id="on-this-page">
        On this page
      </p>
      <ul>
        {entries.map(({ id, text, level }) => (
          <li class={level > 2 ? 'inner' : undefined}>
            <a href={`#${id}`}>{text}</a>
          </li>
        ))}
      </ul>
    </nav>
  )

// Only for HTML that the renderer of this folder wrote.
export const Prose = ({ html }: { html: string }) => <div class="prose">{raw(html)}</div>
