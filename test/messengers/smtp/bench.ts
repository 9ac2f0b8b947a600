import assert from 'node:assert/strict'
import { onTestFinished } from 'vitest'
import smtp from '../../../src/messengers/smtp.ts'
import { openMailServer } from '../mailServer.ts'
import { newTools, openMessenger } from '../tools.ts'

export const testTimes = {
  connectionMs: 8000,
  greetingMs: 8000,
  silenceMs: 8000,
  deadlineMs: 20_000,
  waitMs: 20_000,
  closeMs: 2000,
}
export const from = 'Tollgate <pay@shop.example.com>'

export type After = typeof onTestFinished // tests side by side have one each

export function connect(SMTP_URL: string, times = testTimes, settings = {}, after: After = onTestFinished) {
  const tools = newTools()
  const messenger = openMessenger(smtp, { SMTP_URL, SMTP_FROM: from, ...settings }, tools, times)
  assert.ok(messenger)
  after(() => messenger.close())
  return { ...tools, messenger }
}

export async function open(options: Parameters<typeof openMailServer>[0] = {}, credentials = '') {
  const server = await openMailServer(options)
  onTestFinished(() => server.stop())
  return { server, ...connect(server.url.replace('//', `//${credentials}`)) }
}
