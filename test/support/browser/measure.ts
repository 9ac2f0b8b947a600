import type { Page } from 'playwright-core'

declare const document: any // functions passed to evaluate() run in the browser
declare const getComputedStyle: any

const leastSide = 24 // CSS pixels, of WCAG 2.2's target size

// Whether the page scrolls horizontally.
export const overflow = (page: Page): Promise<boolean> =>
  page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth)

// Elements whose content is wider than they are: it is cut, or lies over its neighbour.
export const cutTexts = (page: Page): Promise<string[]> => page.evaluate(findCut)

function findCut(): string[] {
  const isForReaders = (element: any): boolean =>
    element !== null && (getComputedStyle(element).clipPath !== 'none' || isForReaders(element.parentElement))
  return [...document.querySelectorAll('body *')]
    .filter(element => element.checkVisibility() && element.clientWidth > 1 && !element.ownerSVGElement)
    .filter(element => !isForReaders(element))
    .filter(element => element.scrollWidth > element.clientWidth + 1)
    .map(element => `${element.localName}.${element.className}: ${element.textContent.slice(0, 40)}`)
}

// Touch targets that are too small, one line each: `tag "name" 20x18`. Links within text, boxes with a large label, and
// elements that show only when focused are allowed.
export const smallTargets = (page: Page): Promise<string[]> => page.evaluate(findSmall, leastSide)

function findSmall(least: number): string[] {
  const small: string[] = []
  const interactive = 'a[href], button, input:not([type=hidden]), select, textarea, summary, [role=button]'
  for (const element of document.querySelectorAll(interactive)) {
    const { display } = getComputedStyle(element)
    const text = element.textContent.trim()
    if (display === 'inline' && text && element.parentElement.textContent.trim() !== text) continue
    const boxes = [element, ...(element.labels ?? [])]
      .filter(target => target.checkVisibility({ opacityProperty: true, visibilityProperty: true }))
      .map(target => target.getBoundingClientRect())
      .map(({ width, height }) => [Math.round(width), Math.round(height)] as const)
      .filter(box => Math.min(...box) > 1)
    if (boxes.length === 0 || boxes.some(box => Math.min(...box) >= least)) continue
    const name = element.getAttribute('aria-label') || text || element.name || element.id
    small.push(`${element.localName} "${name}" ${boxes[0]?.join('x')}`)
  }
  return small
}
