import assert from 'node:assert/strict'
import { onTestFinished } from 'vitest'
import smtp from '../../../src/messengers/smtp.ts'
import { openMailServer } from '../mailServer.ts'
import { newTools } from '../tools.ts'

export const shortTimes = {
  connectionMs: 1000,
  greetingMs: 1000,
  silenceMs: 1000,
  deadlineMs: 3000,
  waitMs: 2000,
  closeMs: 500,
}
export const from = 'Tollgate <pay@shop.example.com>'

export type After = typeof onTestFinished // tests side by side have one each

export function connect(SMTP_URL: string, times = shortTimes, settings = {}, after: After = onTestFinished) {
  const tools = newTools()
  const messenger = smtp({ SMTP_URL, SMTP_FROM: from, ...settings }, tools, times)
  assert.ok(messenger)
  after(() => messenger.close())
  return { ...tools, messenger }
}

export async function open(options: Parameters<typeof openMailServer>[0] = {}, credentials = '') {
  const server = await openMailServer(options)
  onTestFinished(() => server.stop())
  return { server, ...connect(server.url.replace('//', `//${credentials}`)) }
}
