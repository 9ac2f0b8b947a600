import assert from 'node:assert/strict'
import { onTestFinished } from 'vitest'
import smpp, { type SmppTimes } from '../../../src/messengers/smpp.ts'
import { type CentreOptions, openCentre } from '../smsCentre.ts'
import { newMessage, newTools, openMessenger } from '../tools.ts'

export const testTimes: SmppTimes = {
  connectMs: 10_000,
  idleMs: 5000,
  enquireMs: 2000,
  firstPauseMs: 100,
  maxPauseMs: 400,
  stableMs: 0,
  readyMs: 20_000,
  closeMs: 2000,
  waitMs: 10_000,
  answerMs: 20_000,
  slowMs: 500,
  receiptMs: 50,
}

// For tests without an answer.
export const impatient = { answerMs: 3000 }

export function connect(SMPP_URL: string, settings = {}, times = {}) {
  const tools = newTools()
  const all = { SMPP_URL, SMPP_FROM: 'Tollgate', SMPP_RATE: '200', SMPP_WINDOW: '50', ...settings }
  const messenger = openMessenger(smpp, all, tools, { ...testTimes, ...times })
  assert.ok(messenger)
  onTestFinished(() => messenger.close())
  return { ...tools, messenger }
}

export async function open(options: CentreOptions = {}, settings = {}, times = {}) {
  const centre = await openCentre(options)
  onTestFinished(() => centre.stop())
  return { centre, ...connect(centre.url, settings, times) }
}

export const sms = (text = 'You paid 25.00 GHS.', to = '+233241234567') => newMessage({ text, to })
