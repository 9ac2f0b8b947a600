import { setTimeout as sleep } from 'node:timers/promises'
import type { Credentials } from '../../../src/actions/merchants/onboard.ts'
import { type GatewayProcess, spawnGateway } from '../gateway/gateway.ts'
import { post, type Request, signedRequest } from '../merchant/merchant.ts'
import { pick, random, randomBelow } from '../random.ts'

// A gateway that is killed and restarted repeatedly, and shops that send requests to it.
export type KilledGateway = { url(): string | undefined; kills: number; stop(): Promise<void> }

// Kills it at least `times` times, and until `isEnough`.
export async function startKilledGateway(
  env: Record<string, string>,
  times: number,
  isEnough = () => Promise.resolve(true),
): Promise<KilledGateway & { done: Promise<void> }> {
  let startMs = 0
  const start = async () => {
    const began = performance.now()
    const started = await spawnGateway(env)
    startMs = performance.now() - began
    return started
  }
  let gateway: GatewayProcess | undefined = await start()
  const killed = {
    url: () => gateway?.url,
    kills: 0,
    stop: async () => gateway?.kill('SIGTERM'),
  }
  const run = async () => {
    while (killed.kills < times || !(await isEnough())) {
      // If a start takes long, so does everything that a kill may interrupt.
      await sleep(Math.max(200 + random() * 700, random() * startMs))
      const dying = gateway as GatewayProcess
      gateway = undefined
      await dying.kill('SIGKILL')
      killed.kills++
      gateway = await start()
    }
  }
  return Object.assign(killed, { done: run() })
}

const wallets = ['000', '002', '005', '006', '007', '008', '123']

// Sends one direct payment request after the other. A request without an answer is repeated at any running gateway, as a
// shop has to do.
export async function keepRequesting(
  shop: Credentials,
  gateways: KilledGateway[],
  isOver: () => boolean,
): Promise<Request[]> {
  const requests: Request[] = []
  while (!isOver()) {
    const wallet = pick(wallets)
    const request = signedRequest(shop, {
      generate_checkout_url: undefined,
      pymt_instrument: `024${1000 + randomBelow(9000)}${wallet}`,
      extra_wallet_issuer_hint: 'MTN',
    })
    requests.push(request)
    while (!(await isAnswered(request, gateways))) await sleep(20)
    await sleep(40)
  }
  return requests
}

async function isAnswered(request: Request, gateways: KilledGateway[]): Promise<boolean> {
  const url = pick(gateways)?.url()
  if (!url) return false
  const answer = await post(url, request).catch(() => undefined)
  if (answer && answer.http !== 200 && answer.http !== 503) throw new Error(`${answer.http} ${answer.text}`)
  return answer?.http === 200
}
