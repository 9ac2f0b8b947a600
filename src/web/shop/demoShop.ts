import type { IncomingHttpHeaders } from 'node:http'

// The demo shop as its pages see it. src/start/shop.ts makes it from examples/shop and the SDK.

export type Article = { id: string; name: string; about: string; total: string }
export type ShopEnding = { id: string; label: string }
export type ShopOrder = { invoiceId: string; article: string; state: string }

export type DemoShop = {
  articles: readonly Article[]
  endings: readonly ShopEnding[] // empty if SMS are really sent: a number that decides the ending may be a person's
  pictures: ReadonlyMap<string, Buffer> // SVG, by the id of the article
  code: readonly { name: string; text: string }[]
  open(): Promise<OpenShop | undefined> // undefined while there is no active demo merchant
  requestOf(invoice_id: string): SentRequest | undefined
  refundRequestOf(invoice_id: string): SentRequest | undefined
  receivedBy(notification_id: string): ReceivedNotification | undefined
}

export type OpenShop = {
  name: string
  buy(
    article: Article,
    options: { ending?: string; extra: Record<string, string>; invoiceId?: string },
  ): Promise<{ order: ShopOrder; checkoutUrl: string }>
  orderAfterReturn(invoiceId: string): Promise<ShopOrder | undefined>
  refund(invoiceId: string): Promise<unknown> // of the whole order
  receive(rawBody: Buffer, headers: IncomingHttpHeaders): Promise<Response>
}

// The shop's request as sent, and the answer. It is in memory only: after a restart the panel shows less.
export type SentRequest = { url: string; body: string; http: number; ms: number; answer: string }

// A notification that the shop has verified and acknowledged.
export type ReceivedNotification = { headers: Record<string, string>; body: string; answer: string }
