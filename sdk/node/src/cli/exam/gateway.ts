import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { hex, hmacWith, stringToSign, utf8 } from '../../signature.ts'
import { statusAnswer, type TestPayment } from '../../testing.ts'
import { parseObject } from '../../transport.ts'
import { CommandError } from '../command.ts'
import type { Credentials } from '../credentials.ts'

// How the gateway of the exam answers status checks of one payment.
export type StatusFault = 'none' | 'unavailable' | 'hanging'

export type ExamPayment = TestPayment & { currency: string; total: string; reference: string }

// A gateway for one shop, on this machine. It answers as the real one does, and can misbehave.
export type ExamGateway = {
  url: string
  payments: Map<string, ExamPayment>
  faults: Map<string, StatusFault>
  statusChecks(invoiceId: string): number
  // Keeps the answers to requests for this payment until the returned function is called.
  holdInitiation(invoiceId: string): { arrived: Promise<void>; release(): void }
  releaseHanging(): void
  close(): void
}

type Received = { method: string; path: string; fields: Record<string, unknown> }
type Answer = { http: number; body: unknown }

const notFound = {
  http: 404,
  body: refusal(404, 'not_found', 'The gateway of the exam has no such address.'),
}

export async function openExamGateway(credentials: Credentials, port: number): Promise<ExamGateway> {
  const payments = new Map<string, ExamPayment>()
  const faults = new Map<string, StatusFault>()
  const checks = new Map<string, number>()
  const held = new Map<string, { arrive(): void; released: Promise<void> }>()
  let hanging: (() => void)[] = []
  const hmac = hmacWith(utf8(credentials.merchantSecret))

  async function isSigned({ fields }: Received, total?: string): Promise<boolean> {
    const invoiceId = String(fields.invoice_id)
    const text = stringToSign(credentials.merchantKey, { invoiceId, total })
    return hex(await hmac(text)) === String(fields.secure_hash).toLowerCase()
  }

  async function initiate(received: Received): Promise<Answer> {
    const { fields } = received
    if (!(await isSigned(received, String(fields.total)))) return wrongHash
    const invoiceId = String(fields.invoice_id)
    const hold = held.get(invoiceId)
    hold?.arrive()
    await hold?.released
    const reference = payments.get(invoiceId)?.reference ?? `TG-EXAM-${invoiceId}`
    const checkout_url = `${url}/checkout/exam`
    return {
      http: 200,
      body: {
        success: true,
        status: 'new',
        status_code: 0,
        message: 'Stored for the exam.',
        invoice_id: invoiceId,
        tx_reference: reference,
        tx_token: 'exam',
        url: checkout_url,
        checkout_url,
      },
    }
  }

  async function status(received: Received): Promise<Answer> {
    const { fields } = received
    const invoiceId = String(fields.invoice_id)
    checks.set(invoiceId, (checks.get(invoiceId) ?? 0) + 1)
    if (fields.secure_hash !== undefined && !(await isSigned(received))) return wrongHash
    const fault = faults.get(invoiceId)
    if (fault === 'unavailable')
      return { http: 503, body: refusal(503, 'GW-050', 'The exam says: try again later.') }
    if (fault === 'hanging') await new Promise<void>(resolve => hanging.push(resolve))
    const payment = payments.get(invoiceId)
    if (!payment || fields.merchant_key !== credentials.merchantKey)
      return { http: 404, body: refusal(404, 'GW-005', 'invoice_id: no payment of this merchant has it') }
    return { http: 200, body: statusAnswer(payment) }
  }

  async function answerTo(received: Received): Promise<Answer> {
    if (received.path === '/v1/mobile_agents_v2' && received.method === 'POST') return initiate(received)
    if (/^(\/v1)?\/gateway\/json_status_chk$/.test(received.path)) return status(received)
    const feed = { success: true, status: 'ok', events: [], next: '0', more: false }
    return received.path === '/v1/events' ? { http: 200, body: feed } : notFound
  }

  const server = createServer((incoming, outgoing) => {
    void receive(incoming)
      .then(answerTo)
      .catch(() => notFound)
      .then(answer => send(outgoing, answer))
  })
  const url = await listenOn(server, port)
  return {
    url,
    payments,
    faults,
    statusChecks: invoiceId => checks.get(invoiceId) ?? 0,
    holdInitiation(invoiceId) {
      const [arrived, released] = [gate(), gate()]
      held.set(invoiceId, { arrive: arrived.open, released: released.passed })
      return { arrived: arrived.passed, release: released.open }
    },
    releaseHanging() {
      for (const resume of hanging) resume()
      hanging = []
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

function gate(): { passed: Promise<void>; open(): void } {
  let open!: () => void
  const passed = new Promise<void>(resolve => (open = resolve))
  return { passed, open }
}

function listenOn(server: ReturnType<typeof createServer>, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        new CommandError(
          error.code === 'EADDRINUSE'
            ? `Port ${port} is in use. Choose another with --port.`
            : `Port ${port} cannot be opened: ${error.message}`,
        ),
      ),
    )
    server.listen(port, '127.0.0.1', () => {
      const address = server.address()
      resolve(`http://127.0.0.1:${typeof address === 'object' ? address?.port : port}`)
    })
  })
}

// JSON, a form or a query, as the real gateway reads them.
async function receive(incoming: IncomingMessage): Promise<Received> {
  const url = new URL(incoming.url ?? '/', 'http://exam')
  const text = Buffer.concat((await incoming.toArray()) as Buffer[]).toString()
  const form = () => Object.fromEntries(new URLSearchParams(text))
  const fields = { ...Object.fromEntries(url.searchParams), ...(parseObject(text) ?? form()) }
  return { method: incoming.method ?? 'GET', path: url.pathname, fields }
}

function send(outgoing: ServerResponse, { http, body }: Answer) {
  if (outgoing.destroyed) return // the shop did not wait
  outgoing.writeHead(http, { 'content-type': 'application/json', 'x-request-id': 'req_exam' })
  outgoing.end(JSON.stringify(body))
}

function refusal(status_code: number, code: string, message: string) {
  const error = { code, message }
  return { success: false, status: 'error', status_code, message, error, request_id: 'req_exam' }
}

const wrongHash = {
  http: 401,
  body: refusal(401, 'GW-010', 'secure_hash: does not match. Does your shop use the keys of the exam?'),
}
