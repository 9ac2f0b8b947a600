// What one that is slow, stopped or large does to everybody else.
import { expirySection } from './expiry.js'
import { indexSection } from './largeIndex.js'
import { dashboardSection } from './dashboard.js'
import { listsSection } from './lists.js'
import { callbackSection } from './callback.js'
import { pausedSection } from './pausedNode.js'

const lengths = {
  whole: {
    callback: { rounds: 3, count: 30 },
    expiry: { rounds: 3, measureMs: 2500 },
    paused: { rounds: 5, measureMs: 8000 },
    index: { rounds: 1, events: 6_000_000 },
    lists: { rounds: 3 },
  },
  quick: {
    callback: { rounds: 1, count: 20 },
    expiry: { rounds: 1, measureMs: 2000 },
    paused: { rounds: 1, measureMs: 6000 },
  },
  smallest: {
    callback: { rounds: 1, count: 2 },
    expiry: { rounds: 1, measureMs: 700, warmMs: 0, initiationMs: 700, warmUpMs: 0 },
    paused: { rounds: 1, measureMs: 1000, capacityMs: 500 },
    index: { rounds: 1, events: 6000, beforeMs: 500 },
    lists: { rounds: 1, many: 4000 },
  },
}

export function trouble(bench, size) {
  const { callback, expiry, paused, index, lists } = lengths[size]
  return [
    callbackSection(bench, callback),
    expirySection(bench, expiry),
    pausedSection(bench, paused),
    ...(index ? [indexSection(bench, index)] : []),
    ...(lists ? [listsSection(bench, lists), dashboardSection(bench, lists)] : []),
  ]
}
