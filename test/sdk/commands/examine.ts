import { createTollgate, memoryStore } from '../../../sdk/node/src/index.ts'
import { examListener, notificationListener } from '../../../sdk/node/src/node.ts'
import { testIpnSecret } from '../../../sdk/node/src/testing.ts'
import { type AtEnd, serve } from './handler.ts'
import { type Env, runCommand } from './terminal.ts'

export const examine = async (shop: string, port: number, env: Env, ...more: string[]) =>
  runCommand(['exam', `${shop}/ipn`, '--orders', `${shop}/exam`, '--port', String(port), ...more], env)

export const findingsIn = (out: string) => [...out.matchAll(/^FAIL {2}(\S+)/gm)].map(([, name = '']) => name)

type Order = { total: string; currency: string; state: string; deliveries: number }

// A shop as the README shows it: the SDK's handler, and three lines for the exam.
export function openSdkShop(port: number, clean?: AtEnd) {
  const orders = new Map<string, Order>()
  const tollgate = createTollgate({
    baseUrl: `http://127.0.0.1:${port}`,
    merchantKey: 'tk_exam',
    merchantSecret: 'a secret for the exam only',
    ipnSecret: testIpnSecret,
  })
  const ipn = notificationListener(tollgate, {
    store: memoryStore(),
    findOrder: invoiceId => orders.get(invoiceId),
    onStatus: ({ status, order }) => {
      if (order.state === 'paid') return
      order.state = status
      if (status === 'paid') order.deliveries++
    },
    onError: () => {},
  })
  const exam = examListener(tollgate, {
    async createOrder({ invoiceId, total, currency, ipnUrl }) {
      orders.set(invoiceId, { total, currency, state: 'new', deliveries: 0 })
      await tollgate.initiate({ invoiceId, total, currency, ipnUrl })
    },
    readOrder(invoiceId) {
      const order = orders.get(invoiceId)
      return order && { status: order.state, deliveries: order.deliveries }
    },
  })
  return serve((request, response) => (request.url === '/exam' ? exam : ipn)(request, response), clean)
}
