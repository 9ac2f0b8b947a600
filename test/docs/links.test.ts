import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'

const notOurs = ['node_modules', '.git', 'dist', 'data', 'screenshots']

const pagesIn = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap(entry => {
    if (notOurs.includes(entry.name) || entry.isSymbolicLink()) return []
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return pagesIn(path)
    return entry.name.endsWith('.md') ? [path] : []
  })

const pages = new Map(pagesIn('.').map(path => [path, readFileSync(path, 'utf8')]))

const withoutCode = (text: string) => text.replace(/^```.*?^```$/gms, '')

// The targets of a page: links, and images in either syntax. External addresses are not checked.
const linksIn = (text: string) =>
  [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)|<img[^>]*\ssrc="([^"]+)"/g)]
    .map(([, link, picture]) => (link ?? picture) as string)
    .filter(link => !/^[a-z]+:/.test(link))

// The anchor that GitHub gives a heading.
const anchorsIn = (text: string) =>
  [...withoutCode(text).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )

const targetOf = (page: string, link: string) => {
  const [path = '', anchor] = link.split('#')
  return { file: path === '' ? page : normalize(join(dirname(page), path)), anchor }
}

// Why a link is broken; undefined if it is not.
function whyBroken(page: string, link: string): string | undefined {
  const { file, anchor } = targetOf(page, link)
  if (!existsSync(file)) return `${page}: ${link} is not there`
  if (anchor === undefined || anchorsIn(pages.get(file) ?? '').includes(anchor)) return undefined
  return `${page}: ${link} has no such heading`
}

test('a link to a missing page or heading is found', () => {
  expect(whyBroken('README.md', 'docs/interface.md#notifications')).toBeUndefined()
  expect(whyBroken('README.md', 'docs/nowhere.md')).toBe('README.md: docs/nowhere.md is not there')
  expect(whyBroken('docs/sandbox.md', 'interface.md#nothing')).toBe(
    'docs/sandbox.md: interface.md#nothing has no such heading',
  )
})

test('every link of every page is valid', () => {
  const broken = [...pages].flatMap(([page, text]) =>
    linksIn(text).flatMap(link => whyBroken(page, link) ?? []),
  )
  expect(broken).toEqual([])
})

test('every page is reachable by links from the README', () => {
  const found = new Set<string>()
  function walk(file: string) {
    const page = file.endsWith('/') ? join(file, 'README.md') : file // a folder shows its own page
    if (found.has(page) || !pages.has(page)) return
    found.add(page)
    for (const link of linksIn(pages.get(page) ?? '')) walk(targetOf(page, link).file)
  }
  walk('README.md')
  expect([...pages.keys()].filter(page => !found.has(page))).toEqual([])
})

// Paths in the changelog may be old.
const namedFile = /`((?:src|test|bench|docs|bin|sdk)\/[\w./-]+)`/g

test('every file and folder that a page names exists', () => {
  const gone = [...pages]
    .filter(([page]) => page !== 'CHANGELOG.md')
    .flatMap(([page, text]) =>
      [...text.matchAll(namedFile)]
        .map(([, path]) => path as string)
        .filter(path => !existsSync(path))
        .map(path => `${page}: ${path}`),
    )
  expect(gone).toEqual([])
})
