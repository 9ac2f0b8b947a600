import { createAttemptCallbacks, isAttemptId } from '../actions/providers/callbacks.ts'
import { handleWebhook } from '../actions/providers/handleWebhook.ts'
import type { Metrics } from '../observe/metrics.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { addressOf } from './http/apiRequest.ts'
import { readBody } from './http/body.ts'
import type { Ctx } from './http/context.ts'

// A provider's callback means that the state of an attempt may have changed. It only triggers a poll, so its body is not
// read. It is stored before it is acknowledged. A callback for a known attempt is never refused, even if its address has
// sent unknown ones. Unknown attempts are counted by address. An id in another format is refused without a query.
export const callbackRoute = ({ runtime, trustedProxies }: CallbackOptions) => {
  const callbacks = createAttemptCallbacks(runtime)
  return async (c: Ctx) => {
    const address = addressOf(c.env.incoming, trustedProxies)
    const attempt_id = c.req.param('attempt') ?? ''
    if (!isAttemptId(attempt_id)) {
      runtime.limits.unknownCallback(address)
      return c.text('no such address\n', 404)
    }
    const queue = runtime.limits.hasUnknownCallbacksLeft(address) ? 'usual' : 'suspect'
    const result = await callbacks.receive(attempt_id, queue)
    if (result === 'unknown') runtime.limits.unknownCallback(address)
    // The rest of a large body is not read, so the server closes the connection. The provider must not use it again.
    if (!c.env.incoming.complete) c.header('connection', 'close')
    return c.text('ok\n')
  }
}

type CallbackOptions = { runtime: Runtime; trustedProxies: number }
type WebhookOptions = CallbackOptions & { metrics: Metrics }

// A webhook at the address of a provider account. The provider module reads which attempts it is about. A sender that
// fails authentication is refused and rate-limited.
export const webhookRoute =
  ({ runtime, metrics, trustedProxies }: WebhookOptions) =>
  async (c: Ctx) => {
    const { incoming } = c.env
    const address = addressOf(incoming, trustedProxies)
    const id = c.req.param('webhook') ?? ''
    const path = c.req.path.split('/').slice(4).join('/')
    const headers = Object.fromEntries(
      Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
    )
    const body = await readBody(incoming, { runtime, address })
    const { outcome, account = 'none' } = await handleWebhook(runtime, id, { path, headers, body, address })
    metrics.webhooks.inc({ account, outcome })
    if (outcome === 'accepted') return c.text('ok\n')
    runtime.limits.unknownCallback(address)
    return outcome === 'forged' ? c.text('wrong signature\n', 401) : c.text('no such address\n', 404)
  }
