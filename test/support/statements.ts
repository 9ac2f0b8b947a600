import { setTimeout as sleep } from 'node:timers/promises'
import type { Proxy } from './database/postgresProxy.ts'

export type Statements = {
  of(work: () => Promise<unknown>): Promise<string[]> // what reached the database for this work
}

const idleMs = 1500 // longer than any worker rests that looks for what a payment needs

// What frames the work, the books of the simulated provider, and words between nodes: how accounts do is told every few
// seconds, however many payments there were.
const others = [
  /^\s*(begin|commit|rollback|set|start transaction|savepoint|release)\b/i,
  /\bsandbox_charges\b/i,
  /\bprovider_health\b/i,
  /^\s*(un)?listen\b|^\s*notify\b|\bpg_notify\b/i,
]

// Counts what a gateway says to its database. What it says by itself, when nobody wants anything, is known from the time
// before: it counts only when the server answers otherwise than then, as to a look that finds something.
export async function countStatements(proxy: Proxy): Promise<Statements> {
  const whenIdle = new Map<string, Set<string>>()
  let counted: string[] | undefined

  proxy.onDone = (text, tag) => {
    if (others.some(pattern => pattern.test(text))) return
    const usual = whenIdle.get(text)
    if (!counted) whenIdle.set(text, (usual ?? new Set()).add(tag))
    else if (!usual?.has(tag)) counted.push(`${text.replaceAll(/\s+/g, ' ').trim()} -> ${tag}`)
  }
  await sleep(idleMs)
  return {
    async of(work) {
      counted = []
      try {
        await work()
        return counted
      } finally {
        counted = undefined
        await sleep(idleMs)
      }
    },
  }
}
