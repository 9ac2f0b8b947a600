import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import type { MessageRules } from '../../../src/core/message/messageRules.ts'
import { createBodyQuota } from '../../../src/runtime/bodyQuota.ts'
import { createRateLimits } from '../../../src/runtime/rateLimits.ts'
import type { Runtime } from '../../../src/runtime/runtime.ts'
import type { Env } from '../../../src/web/http/context.ts'
import { supportRoutes } from '../../../src/web/support/support.tsx'
import { signIn, testOperatorAuth } from './operatorAuth.ts'

export type SupportSite = { url: string; stop(): void }

export const roomyRules: MessageRules = { smsPrefixes: ['+233'], perRecipient: 1000, perMerchant: 10_000 }

const monotonicMs = () => performance.now()
export const testQuotas = () => ({
  limits: createRateLimits(monotonicMs),
  bodies: createBodyQuota(monotonicMs),
  installation: () => ({ is: 'original' }) as const,
})

// The support page on its own server. Every request is signed in, unless the test gives another token.
export async function supportSite(
  runtime: Pick<Runtime, 'db' | 'clock' | 'wake' | 'formKey' | 'baseUrl'>,
  door = testOperatorAuth(),
  rules: MessageRules = roomyRules,
): Promise<SupportSite> {
  const app = new Hono<Env>({ strict: false })
  app.route('/support', supportRoutes({ runtime: { ...runtime, ...testQuotas(), rules }, auth: door }))
  const pages = getRequestListener(app.fetch)
  const server = createServer((incoming, outgoing) => {
    signIn(incoming, door)
    void pages(incoming, outgoing)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const stop = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop }
}
