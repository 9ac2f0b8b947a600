// node bench/profileTop.js FILE...: where the time of a process went, from the CPU profiles that `--cpu-prof` writes. Self
// time by function, then by folder; idle time is left out.
import { readFileSync } from 'node:fs'

const shown = 40

/** @typedef {{ id: number, callFrame: { functionName: string, url: string, lineNumber: number } }} ProfileNode */
/** @typedef {{ nodes: ProfileNode[], samples: number[], timeDeltas: number[] }} Profile */

/** @type {(callFrame: ProfileNode['callFrame']) => string} */
const placeOf = ({ functionName, url, lineNumber }) => {
  const file = url.replace(/^.*\/dist\//, '').replace(/^.*\/node_modules\//, 'node_modules/')
  return `${functionName || '(anonymous)'}  ${file}${url ? `:${lineNumber + 1}` : ''}`
}

/** @type {(callFrame: ProfileNode['callFrame']) => string} */
const groupOf = ({ functionName, url }) => {
  if (url.includes('/node_modules/'))
    return `node_modules/${url.split('/node_modules/').at(-1)?.split('/')[0]}`
  if (url.includes('/dist/')) return `src/${url.split('/dist/').at(-1)?.split('/').slice(0, -1).join('/')}`
  if (url.startsWith('node:')) return url.split('/').slice(0, 2).join('/')
  return functionName.startsWith('(') ? functionName : 'native code'
}

/** @type {(totals: Map<string, number>, name: string, us: number) => unknown} */
const add = (totals, name, us) => totals.set(name, (totals.get(name) ?? 0) + us)

const [functions, groups] = [new Map(), new Map()]
let busyUs = 0
for (const file of process.argv.slice(2)) {
  /** @type {Profile} */
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, 'utf8'))
  const byId = new Map(nodes.map(node => [node.id, node.callFrame]))
  samples.forEach((id, at) => {
    const callFrame = byId.get(id)
    const us = timeDeltas[at] ?? 0
    if (!callFrame || callFrame.functionName === '(idle)') return
    busyUs += us
    add(functions, placeOf(callFrame), us)
    add(groups, groupOf(callFrame), us)
  })
}

for (const totals of [functions, groups]) {
  const largest = [...totals].sort(([, a], [, b]) => b - a).slice(0, shown)
  for (const [name, us] of largest) console.log(`${((100 * us) / busyUs).toFixed(1).padStart(5)} %  ${name}`)
  console.log()
}
