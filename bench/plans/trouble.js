// What one that is slow, stopped or large does to everybody else.
import { overloadSections } from './overload.js'
import { expirySection } from './expiry.js'
import { indexSection } from './largeIndex.js'
import { dashboardSections } from './dashboard.js'
import { listsSection } from './lists.js'
import { callbackSection } from './callback.js'
import { pausedSection } from './pausedNode.js'

const lengths = {
  whole: {
    callback: { rounds: 3, count: 30 },
    expiry: { rounds: 3, measureMs: 2500 },
    paused: { rounds: 5, measureMs: 8000 },
    overload: { rounds: 3, warmMs: 3000, measureMs: 10_000, capacityMs: 3000 },
    index: { rounds: 1, events: 6_000_000 },
    lists: { rounds: 3 },
  },
  quick: {
    callback: { rounds: 1, count: 20 },
    expiry: { rounds: 1, measureMs: 2000 },
    paused: { rounds: 1, measureMs: 6000 },
    overload: { rounds: 1, warmMs: 2000, measureMs: 6000, capacityMs: 2000 },
  },
  smallest: {
    callback: { rounds: 1, count: 2 },
    expiry: { rounds: 1, measureMs: 700, warmMs: 0, initiationMs: 700, warmUpMs: 0, mostPerSecond: 6000 },
    paused: { rounds: 1, measureMs: 1000, capacityMs: 500 },
    overload: { rounds: 1, warmMs: 100, measureMs: 700, capacityMs: 300, stored: 2000 },
    index: { rounds: 1, events: 6000, beforeMs: 500 },
    lists: { rounds: 1, many: 4000, requests: 1 },
  },
}

export function trouble(bench, size) {
  const { callback, expiry, paused, index, lists, overload } = lengths[size]
  return [
    callbackSection(bench, callback),
    expirySection(bench, expiry),
    pausedSection(bench, paused),
    ...overloadSections(bench, overload),
    ...(index ? [indexSection(bench, index)] : []),
    ...(lists ? [listsSection(bench, lists), ...dashboardSections(bench, lists)] : []),
  ]
}
