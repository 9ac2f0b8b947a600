import type { CDPSession, Page } from 'playwright-core'

// The browser's own language, for what has no other words.
export async function withSession<T>(page: Page, use: (session: CDPSession) => Promise<T>): Promise<T> {
  const session = await page.context().newCDPSession(page)
  try {
    return await use(session)
  } finally {
    await session.detach()
  }
}
