import type { Page } from 'playwright-core'
import { withSession } from './browser.ts'

declare const document: any // the functions given to evaluate() run in the browser
declare const getComputedStyle: any

// `name` is what a screen reader would say.
export type Stop = { role: string; name: string; outlined: boolean }

const mostStops = 200

// Goes through the page with the Tab key from its start, and tells what a keyboard user meets.
export async function focusOrder(page: Page): Promise<Stop[]> {
  await page.screenshot({ clip: { x: 0, y: 0, width: 1, height: 1 } }) // what wants the focus has it once drawn
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

// Also when something has the focus from the beginning.
function goToStart() {
  document.body.tabIndex = -1
  document.body.focus()
  document.body.blur()
  document.body.removeAttribute('tabindex')
}

const isAtEnd = () => [null, document.body, document.documentElement].includes(document.activeElement)

// The mark may be on what stands for the element: a label, the box around it, what follows a hidden radio button.
// One in the colour of its ground is none; nor is a shadow, which high contrast modes take away.
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
    if (Math.min(width, height) <= 1) return false // hidden from the eye, not from the screen reader
    const { outlineStyle, outlineWidth, outlineColor } = getComputedStyle(element)
    const isThere = outlineStyle !== 'none' && Number.parseFloat(outlineWidth) > 0
    const ground = element.parentElement ? groundOf(element.parentElement) : 'rgb(255, 255, 255)'
    return isThere && outlineColor !== ground && outlineColor !== 'rgba(0, 0, 0, 0)'
  })
}
