import mtn from '../../src/providers/mtn.ts'
import { openMtn } from '../simulators/mtn/mtn.ts'
import { conformance } from './conformance.ts'
import { openLine } from './client.ts'
import { disbursementSettings, mtnSettings } from './mtn/play.ts'
import type { Bench } from './stories/stage.ts'

const settings = { ...mtnSettings, ...disbursementSettings }

async function openBench(): Promise<Bench> {
  const played = await openMtn()
  played.refundRule({ story: {} }) // it waits
  return {
    newLine: () => openLine(played.url),
    settings: url => ({ ...settings, url }),
    given: () => ({ phone: '+233241234567' }),
    approve: async order => played.approve(order.idempotency_key),
    decline: async order => played.decline(order.idempotency_key),
    charges: async order => played.charges(order.idempotency_key),
    unknownCode: text => change(text, { status: 'SUCCESSFULLY_FAILED' }),
    otherAmount: (text, amount) => change(text, { amount }),
    otherOrder: text => change(text, { externalId: 'm0m0m0m0m0another' }),
    refunds: {
      finish: async refund => played.endRefund({ key: refund.idempotency_key, status: 'SUCCESSFUL' }),
      fail: async refund =>
        played.endRefund({ key: refund.idempotency_key, status: 'FAILED', reason: 'PAYEE_NOT_FOUND' }),
      count: async refund => played.refunds(refund.idempotency_key),
      otherRefund: text => change(text, { externalId: 'm0m0m0m0m0another' }),
    },
    expireTokens: async () => played.expireTokens(),
    wrongSettings: [
      { settings: { subscription_key: 'wrong' }, words: /subscription key/ },
      { settings: { api_user: 'wrong' }, words: /API user or the API key/ },
      { settings: { api_key: 'wrong' }, words: /API user or the API key/ },
      { settings: { disbursement_subscription_key: 'wrong' }, words: /For refunds: .*subscription key/ },
      { settings: { disbursement_api_user: 'wrong' }, words: /For refunds: .*API user or the API key/ },
      { settings: { disbursement_api_key: 'wrong' }, words: /For refunds: .*API user or the API key/ },
      { settings: { environment: 'mtnmoon' }, words: /environment mtnmoon/ },
    ],
    stop: played.stop,
  }
}

const change = (text: string, changes: object) => JSON.stringify({ ...JSON.parse(text), ...changes })

conformance('mtn', mtn, settings, openBench)
