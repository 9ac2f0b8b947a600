import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

// A simulated provider: a small server with the provider's HTTP interface. Rules and control requests decide what it does:
// `POST /control/<name>` with JSON, or the same function called by a test in the same process.
export type SimulatorRequest = {
  method: string
  path: string
  query: URLSearchParams
  headers: IncomingHttpHeaders
  text: string // of the body
}
export type SimulatorReply = { status: number; headers?: Record<string, string>; body?: string | object }

// How a reply gets lost, or is replaced.
export const troubles = ['silence', 'cut', 'page', 'maintenance', 'error', 'busy'] as const
export type Trouble = (typeof troubles)[number]

// A fault for all requests, or for those whose path begins with `at`, until it is lifted or has applied `times` times.
// `hasTaken`: the provider processes the request, and only the reply is lost.
export type Weather = { trouble: Trouble; hasTaken?: boolean; times?: number; at?: string }

export type Controls = Record<string, (request: any) => unknown>

export type Provider<C extends Controls> = {
  answer(asked: SimulatorRequest): Promise<SimulatorReply | Trouble> | SimulatorReply | Trouble
  controls: C
}

export type Simulator<C extends Controls> = C & {
  url: string
  weather?: Weather
  asked: SimulatorRequest[] // the last thousand
  stop(): Promise<void>
}

const maxAsked = 1000

export async function openSimulator<C extends Controls>(
  { answer, controls }: Provider<C>,
  port = 0,
): Promise<Simulator<C>> {
  const server = createServer((incoming, outgoing) => void serve(incoming, outgoing))
  await once(server.listen(port, '127.0.0.1'), 'listening')

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse) {
    const asked = await read(incoming).catch(() => undefined)
    say(outgoing, asked ? await answered(asked).catch(broken) : 'cut')
  }

  async function answered(asked: SimulatorRequest): Promise<SimulatorReply | Trouble> {
    if (asked.path.startsWith('/control/')) return controlled(asked)
    simulator.asked.splice(0, simulator.asked.length - maxAsked + 1)
    simulator.asked.push(asked)
    const weather = takeWeather(simulator, asked)
    if (weather && !weather.hasTaken) return weather.trouble
    const said = await answer(asked)
    return weather?.trouble ?? said
  }

  async function controlled({ path, text }: SimulatorRequest): Promise<SimulatorReply> {
    const name = path.slice('/control/'.length)
    const request = text === '' ? undefined : (JSON.parse(text) as unknown)
    if (name === 'weather') simulator.weather = (request ?? undefined) as Weather | undefined
    else if (!Object.hasOwn(controls, name)) return { status: 404, body: { error: `no control ${name}` } }
    else return { status: 200, body: { said: (await controls[name]?.(request)) ?? null } }
    return { status: 200, body: {} }
  }

  const simulator: Simulator<C> = {
    ...controls,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: [],
    async stop() {
      if (!server.listening) return
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
  return simulator
}

const broken = (error: unknown): SimulatorReply => ({ status: 500, body: { simulator: String(error) } })

function takeWeather(simulator: { weather?: Weather }, { path }: SimulatorRequest): Weather | undefined {
  const { weather } = simulator
  if (!weather || !path.startsWith(weather.at ?? '/')) return undefined
  const { times = Infinity } = weather
  simulator.weather = times > 1 ? { ...weather, times: times - 1 } : undefined
  return weather
}

async function read(incoming: IncomingMessage): Promise<SimulatorRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  const { pathname, searchParams } = new URL(incoming.url ?? '/', 'http://simulator')
  const { method = 'GET', headers } = incoming
  return { method, path: pathname, query: searchParams, headers, text: Buffer.concat(chunks).toString() }
}

const html = { 'content-type': 'text/html' }
const spoken: Record<Exclude<Trouble, 'silence' | 'cut'>, SimulatorReply> = {
  page: { status: 200, headers: html, body: '<!doctype html><h1>Request Rejected</h1>' },
  maintenance: { status: 503, headers: html, body: '<!doctype html><h1>We will be back soon</h1>' },
  error: { status: 500, body: {} },
  busy: { status: 429, headers: { 'retry-after': '7' }, body: {} },
}

function say(outgoing: ServerResponse, said: SimulatorReply | Trouble) {
  if (said === 'cut') outgoing.destroy()
  if (said === 'cut' || said === 'silence') return
  const { status, headers, body = '' } = typeof said === 'string' ? spoken[said] : said
  const isText = typeof body === 'string'
  const type = isText ? {} : { 'content-type': 'application/json; charset=utf-8' }
  outgoing.writeHead(status, { ...type, ...headers }).end(isText ? body : JSON.stringify(body))
}
