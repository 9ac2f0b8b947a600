import { setTimeout as sleep } from 'node:timers/promises'
import type { BrowserContext, Request } from 'playwright-core'

export type Fetched = {
  method: string
  url: string
  type: string // document, stylesheet, script, image, font, fetch, …
  status?: number // none while it is under way, and when it failed
  bytes: number // what went over the wire, headers and all, as compressed as it came; 0 from the cache
}

export type Recording = {
  // All that went wrong, as `kind: what`: outside (asked for something beyond this machine), csp, console, error
  // (thrown and not caught), dialog, failed (a part of the page is missing). Empty on a good day.
  faults: string[]
  requests(): Promise<Fetched[]> // in order; waits a little for those under way
  origins(): Promise<string[]>
  weight(): Promise<number> // bytes of all requests
}

const settleMs = 2_000 // a request that stays open (events, a long poll) is not waited for longer

// From which status on a request is a fault. That of a page is for the test to judge; a script may ask and hear no.
const worstStatus: { [type: string]: number } = { document: 600, fetch: 500, xhr: 500 }

export function record(context: BrowserContext): Recording {
  const faults: string[] = []
  const fetched: Fetched[] = []
  const underWay = new Set<Promise<void>>()
  context.on('request', request => {
    const entry: Fetched = {
      method: request.method(),
      url: request.url(),
      type: request.resourceType(),
      bytes: 0,
    }
    if (!/^https?:/.test(entry.url)) return // data: and blob: are in the page already
    fetched.push(entry)
    if (isOutside(entry.url)) faults.push(`outside: ${entry.method} ${entry.url}`)
    const followed = follow(request, entry, faults)
      .catch(() => {}) // the page was closed meanwhile
      .finally(() => underWay.delete(followed))
    underWay.add(followed)
  })
  context.on('page', page => {
    page.on('websocket', socket => {
      if (isOutside(socket.url())) faults.push(`outside: ${socket.url()}`)
    })
  })
  context.on('console', message => {
    const text = message.text()
    if (/Content Security Policy|This document requires 'Trusted/.test(text)) faults.push(`csp: ${text}`)
    // What could not be loaded is told better by its request.
    else if (message.type() === 'error' && !text.startsWith('Failed to load resource'))
      faults.push(`console: ${text}`)
  })
  context.on('weberror', webError => faults.push(`error: ${webError.error().message}`))
  context.on('dialog', dialog => {
    faults.push(`dialog: ${dialog.type()} ${dialog.message()}`)
    dialog.accept().catch(() => {}) // the page may be gone
  })
  const requests = async () => {
    await Promise.race([Promise.all(underWay), sleep(settleMs)])
    return [...fetched]
  }
  return {
    faults,
    requests,
    origins: async () => [...new Set((await requests()).map(({ url }) => new URL(url).origin))],
    weight: async () => (await requests()).reduce((sum, { bytes }) => sum + bytes, 0),
  }
}

async function follow(request: Request, entry: Fetched, faults: string[]) {
  const response = await request.response()
  const why = request.failure()?.errorText
  if (response) entry.status = response.status()
  else if (why !== 'net::ERR_ABORTED' && !isOutside(entry.url)) faults.push(`failed: ${why} ${entry.url}`)
  if (response && response.status() >= (worstStatus[entry.type] ?? 400))
    faults.push(`failed: ${entry.status} ${entry.url}`)
  const { responseHeadersSize, responseBodySize } = await request.sizes()
  entry.bytes = responseHeadersSize + responseBodySize
}

function isOutside(url: string) {
  const { hostname } = new URL(url)
  return !/^(localhost|.*\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
}
