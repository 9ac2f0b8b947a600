import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Tollgate } from './client.ts'
import { answerExam, type ExamRules } from './examOrders.ts'
import {
  bodyAlreadyRead,
  type ExpectedOrder,
  maxBodyBytes,
  type NotificationRules,
  refuse,
  tooLarge,
  wrongMethod,
} from './handler.ts'
import type { RawBody } from './notification.ts'

export { fileStore } from './fileStore.ts'

/**
 * A request listener for `node:http`, which also works as a route in Express.
 *
 * @example
 * app.post('/ipn', notificationListener(tollgate, rules)) // before app.use(express.json())
 */
export type NotificationListener = (request: IncomingMessage, response: ServerResponse) => Promise<void>

/**
 * Makes a listener that handles notifications by `tollgate.handleNotification`. It reads the raw body itself. If
 * something has read it before, it uses `request.rawBody`, or a `request.body` that is a Buffer or text (as
 * `express.raw` leaves it). A body that was parsed as JSON cannot be verified: the listener answers 500, and `onError`
 * gets a `NotificationError` with the code `body_already_read`.
 *
 * @example
 * createServer(notificationListener(tollgate, { store, findOrder, onStatus })).listen(3000)
 */
export function notificationListener<O extends ExpectedOrder>(
  tollgate: Pick<Tollgate, 'handleNotification'>,
  rules: NotificationRules<O>,
): NotificationListener {
  return async (request, response) => write(response, await answerTo(request))

  async function answerTo(request: IncomingMessage): Promise<Response> {
    let rawBody: RawBody
    try {
      if (request.method !== 'POST') throw wrongMethod(String(request.method))
      rawBody = await readRawBody(request)
    } catch (error) {
      return refuse(error, rules)
    }
    return tollgate.handleNotification({ ...rules, rawBody, headers: request.headers })
  }
}

/**
 * The endpoint of the exam for `node:http` and Express, as `examOrders` is for web runtimes. Use it in tests only.
 *
 * @example
 * if (process.env.EXAM) app.post('/exam', examListener(tollgate, { createOrder, readOrder })) // before express.json()
 */
export function examListener(
  tollgate: Pick<Tollgate, 'verifyNotification'>,
  rules: ExamRules,
): NotificationListener {
  return async (request, response) => {
    const rawBody = await readRawBody(request).catch((error: Error) => error)
    const answer =
      rawBody instanceof Error
        ? Response.json({ error: rawBody.message }, { status: 500 })
        : await answerExam(tollgate, rules, rawBody, request.headers)
    await write(response, answer)
  }
}

async function write(response: ServerResponse, answer: Response) {
  response.writeHead(answer.status, Object.fromEntries(answer.headers))
  response.end(await answer.text())
}

async function readRawBody(
  request: IncomingMessage & { body?: unknown; rawBody?: unknown },
): Promise<RawBody> {
  for (const read of [request.rawBody, request.body])
    if (typeof read === 'string' || read instanceof Uint8Array) return read
  if (request.readableDidRead || request.readableEnded)
    throw bodyAlreadyRead(
      'A body parser such as express.json() ran first. Register this route before it, or use ' +
        "express.raw({ type: 'application/json' }) for this route.",
    )
  const parts: Buffer[] = []
  let size = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length
    if (size <= maxBodyBytes) parts.push(part) // the rest is read too, so that the answer can be sent
  }
  if (size > maxBodyBytes) throw tooLarge()
  return Buffer.concat(parts)
}
