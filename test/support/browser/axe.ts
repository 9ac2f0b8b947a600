import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { withSession } from './browser.ts'

const axeFile = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

// The violations that axe finds on the page, one line each: `rule at target: why`. It runs in an isolated world, so that
// neither the page's content security policy nor disabled scripts stop it. Frames are not checked.
export async function axeFaults(page: Page): Promise<string[]> {
  const source = await readFile(axeFile, 'utf8')
  return inOwnWorld(page, async evaluate => {
    // No timer fires while scripts are off. Axe uses short timers to yield and long ones as timeouts.
    await evaluate('setTimeout = (run, ms = 0) => void (ms < 100 && queueMicrotask(run))')
    await evaluate(`${source};undefined`)
    const options = { runOnly: tags, resultTypes: ['violations'], iframes: false, preload: false }
    return evaluate(`axe.run(document, ${JSON.stringify(options)}).then(${readable.toString()})`)
  })
}

// Runs in the browser.
const readable = ({ violations }: { violations: any[] }) =>
  violations.flatMap(({ id, nodes }) =>
    nodes.map((node: any) => {
      const checks = [...node.any, ...node.all, ...node.none]
      return `${id} at ${node.target.join(' ')}: ${checks.map(check => check.message).join(' or ')}`
    }),
  )

type Evaluate = <T>(expression: string) => Promise<T>

async function inOwnWorld<T>(page: Page, use: (evaluate: Evaluate) => Promise<T>): Promise<T> {
  return withSession(page, async session => {
    const { frameTree } = await session.send('Page.getFrameTree')
    const world = { frameId: frameTree.frame.id, worldName: 'axe' }
    const { executionContextId: contextId } = await session.send('Page.createIsolatedWorld', world)
    return use(async expression => {
      const wanted = { expression, contextId, awaitPromise: true, returnByValue: true }
      const { result, exceptionDetails } = await session.send('Runtime.evaluate', wanted)
      if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
      return result.value
    })
  })
}
