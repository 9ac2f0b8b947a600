import { expect, test } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { operatorUrl } from '../../src/core/urlTrust.ts'
import smsHttp from '../../src/messengers/smsHttp.ts'
import { openProviderHttp } from '../../src/providers/http/providerHttp.ts'
import { merchantEgress, providerEgress } from '../../src/start/egress.ts'
import { newMessage, newTools, openMessenger } from '../messengers/tools.ts'
import { startProxy } from '../net/connectProxy.ts'
import { answering, later, listen, ok, outbound, request } from '../net/support.ts'

const established = () => 'HTTP/1.1 200 Connection established\r\n\r\n'
const receiver = await listen(answering(ok))
const proxies = {
  merchants: await startProxy(established, receiver.port),
  providers: await startProxy(established, receiver.port),
  system: await startProxy(established, receiver.port),
}
const asked = () => Object.values(proxies).map(proxy => proxy.asked.splice(0).length)

const config = readConfig({
  TOLLGATE_EGRESS_PROXY: proxies.merchants.url,
  TOLLGATE_PROVIDER_EGRESS_PROXY: proxies.providers.url,
})
const signal = new AbortController().signal
const senders: Record<string, (egress?: typeof config) => Promise<unknown>> = {
  notifications: (of = config) => outbound(merchantEgress(of)).send(request(receiver.url)),
  providers: (of = config) =>
    openProviderHttp(providerEgress(of)).askText(operatorUrl(receiver.url), { signal }),
  sms() {
    const settings = { SMS_HTTP_URL: receiver.url, SMS_HTTP_BODY: 'to={to}&text={text}' }
    const messenger = openMessenger(smsHttp, settings, newTools())
    if (messenger) later(messenger.close)
    return Promise.resolve(messenger?.send(newMessage({ to: '+233241234567' })))
  },
}

for (const [who, answer, uses] of [
  ['notifications', { status: 200 }, [1, 0, 0]],
  ['providers', { http: 200 }, [0, 1, 0]],
  ['sms', { state: 'sent' }, [0, 0, 0]],
] as const)
  test(`${who} go through no proxy but their own`, async () => {
    expect(await senders[who]?.()).toMatchObject(answer)
    expect(asked()).toEqual(uses)
  })

test('notifications never use the proxy of providers, even without one of their own', async () => {
  const only = readConfig({ TOLLGATE_PROVIDER_EGRESS_PROXY: proxies.providers.url })
  expect(await senders.notifications?.(only)).toMatchObject({ status: 200 })
  expect(asked()).toEqual([0, 0, 0])
})

test('the proxy variables of the system are not read', async () => {
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy']
  const before = names.map(name => process.env[name])
  for (const name of names) process.env[name] = proxies.system.url
  try {
    const plain = readConfig({ ...process.env, TOLLGATE_BASE_URL: '' })
    for (const send of Object.values(senders)) await send(plain)
  } finally {
    for (const [at, name] of names.entries())
      if (before[at] === undefined) delete process.env[name]
      else process.env[name] = before[at]
  }
  expect(asked()).toEqual([0, 0, 0])
})
