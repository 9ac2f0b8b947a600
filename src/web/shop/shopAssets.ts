import { readFileSync } from 'node:fs'
import { Hono } from 'hono'
import { cacheControlOf, digestOf, minifyCss, readStyles } from '../documents/documents.ts'
import { type Ctx, type Env, plainResponse } from '../http/context.ts'
import type { DemoShop } from './demoShop.ts'

// The addresses of the files of the shop's pages. Each has a digest of its content, so browsers may cache it.
export type ShopAssets = {
  css: string
  live: string
  copy: string
  icon: string
  pictures: Record<string, string> // by the id of the article
}

type AssetFile = { path: string; type: string; bytes: Buffer }

const fileAt = (name: string) => new URL(name, import.meta.url)
const svgType = 'image/svg+xml'

// Read when the module is loaded: a gateway that has dropped root privileges may not be able to read them later.
const css = Buffer.from(minifyCss(readStyles(fileAt('./shop.css'))))
const liveScript = readFileSync(fileAt('./live.js'))

export function shopFiles({ pictures }: Pick<DemoShop, 'pictures'>) {
  const files: AssetFile[] = [
    { path: '/shop.css', type: 'text/css; charset=utf-8', bytes: css },
    { path: '/live.js', type: 'text/javascript; charset=utf-8', bytes: liveScript },
    ...[...pictures].map(([id, bytes]) => ({ path: `/pictures/${id}.svg`, type: svgType, bytes })),
  ]
  const addressOf = (path: string) => {
    const bytes = files.find(file => file.path === path)?.bytes
    return `/shop${path}${bytes ? `?v=${digestOf(bytes)}` : ''}`
  }
  const assets: ShopAssets = {
    css: addressOf('/shop.css'),
    live: addressOf('/live.js'),
    copy: '/public/copy.js',
    icon: '/public/icon.svg',
    pictures: Object.fromEntries([...pictures.keys()].map(id => [id, addressOf(`/pictures/${id}.svg`)])),
  }
  return { assets, routes: assetRoutes(files) }
}

function assetRoutes(files: readonly AssetFile[]) {
  const routes = new Hono<Env>()
  for (const { path, type, bytes } of files) {
    const digest = digestOf(bytes)
    routes.get(path, (c: Ctx) =>
      plainResponse(c, 200, new Uint8Array(bytes), {
        'content-type': type,
        'cache-control': cacheControlOf(new URL(c.req.url).search.slice(1), digest),
        'x-content-type-options': 'nosniff',
        'cross-origin-resource-policy': 'same-origin',
      }),
    )
  }
  return routes
}
