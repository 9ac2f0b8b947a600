import type { Page } from 'playwright-core'
import { withSession } from './browser.ts'

declare const document: any // functions passed to evaluate() run in the browser
declare const getComputedStyle: any

// `name` is the accessible name.
export type Stop = { role: string; name: string; outlined: boolean }

const mostStops = 200

// Walks through the page with the Tab key from its start, and returns the focus stops.
export async function focusOrder(page: Page): Promise<Stop[]> {
  await page.screenshot({ clip: { x: 0, y: 0, width: 1, height: 1 } }) // autofocus applies once the page is drawn
  await page.evaluate(goToStart)
  return withSession(page, async session => {
    const stops = new Map<number, Stop>()
    while (stops.size < mostStops) {
      await page.keyboard.press('Tab')
      const { result } = await session.send('Runtime.evaluate', { expression: 'document.activeElement' })
      const wanted = { objectId: result.objectId, fetchRelatives: false }
      const { nodes } = await session.send('Accessibility.getPartialAXTree', wanted)
      const { backendDOMNodeId: id = 0, role, name } = nodes[0] ?? {}
      if (stops.has(id) || (await page.evaluate(isAtEnd))) break
      stops.set(id, { role: role?.value, name: name?.value, outlined: await page.evaluate(isOutlined) })
    }
    return [...stops.values()]
  })
}

// Also works if an element has the focus from the beginning.
function goToStart() {
  document.body.tabIndex = -1
  document.body.focus()
  document.body.blur()
  document.body.removeAttribute('tabindex')
}

const isAtEnd = () => [null, document.body, document.documentElement].includes(document.activeElement)

// The outline may be on a label, on the parent, or on the sibling of a hidden radio button. An outline in the background
// colour does not count; nor does a shadow, which high contrast modes remove.
function isOutlined(): boolean {
  const active = document.activeElement
  const groundOf = (element: any): string => {
    const { backgroundColor } = getComputedStyle(element)
    if (backgroundColor !== 'rgba(0, 0, 0, 0)') return backgroundColor
    return element.parentElement ? groundOf(element.parentElement) : 'rgb(255, 255, 255)'
  }
  const stands = [active, ...(active.labels ?? []), active.parentElement, active.nextElementSibling]
  return stands.some(element => {
    if (!element?.checkVisibility({ opacityProperty: true, visibilityProperty: true })) return false
    const { width, height } = element.getBoundingClientRect()
    if (Math.min(width, height) <= 1) return false // visually hidden, but read by screen readers
    const { outlineStyle, outlineWidth, outlineColor } = getComputedStyle(element)
    const isThere = outlineStyle !== 'none' && Number.parseFloat(outlineWidth) > 0
    const ground = element.parentElement ? groundOf(element.parentElement) : 'rgb(255, 255, 255)'
    return isThere && outlineColor !== ground && outlineColor !== 'rgba(0, 0, 0, 0)'
  })
}
