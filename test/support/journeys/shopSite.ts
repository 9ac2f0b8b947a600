import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll } from 'vitest'

type Visit = { url: string; headers: IncomingHttpHeaders }

const page =
  '<!doctype html><html lang="en"><title>Shop</title><link rel="icon" href="data:,"><h1>The shop</h1>'

// The shop's pages, on another site than the gateway's, for the tests of one file. They record every visit.
export function openShopSite() {
  const visits: Visit[] = []
  let host = ''
  let places = 0
  const server = createServer(({ url = '', headers }, response) => {
    visits.push({ url, headers })
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end(page)
  })
  beforeAll(async () => {
    await once(server.listen(0, 'localhost'), 'listening')
    host = `localhost:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => void server.close())
  return {
    host: () => host,
    // A unique address with characters that are easily damaged.
    newPlace: (name: string) => `http://${host}/${name}?order=${++places}&note=a%20b%26c;d&x[]=1#top`,
    visitsTo: (place: string) => visits.filter(({ url }) => place === `http://${host}${url}#top`),
  }
}
