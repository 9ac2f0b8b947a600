import { connect as connectPlain, isIP } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { MessengerCheck, MessengerTools } from '../../core/message/messenger.ts'
import { reach } from '../../net/reach.ts'
import { withTimeout } from '../common/waiting.ts'
import { cleanReason, type Warnings, warnOnChange } from '../common/warnings.ts'
import { openSmppConnection, type Pdu, type SmppConnection, statusName } from './connection.ts'
import type { SmppSettings } from './settings.ts'

type ConnectTimes = {
  connectMs: number // for the connection, and again for the bind
  idleMs: number // without a PDU, before an enquire_link
  enquireMs: number // for the response to it
}
export type SmppSessionTimes = ConnectTimes & {
  firstPauseMs: number // before connecting again, doubled after each failure
  maxPauseMs: number
  stableMs: number // a connection that lasted so long is no failure
  readyMs: number // that a message waits for a connection
  closeMs: number
}

type SessionState =
  | { name: 'connecting' }
  | { name: 'bound'; connection: SmppConnection }
  | { name: 'pausing'; endSoon(): void }
  | { name: 'closed' }

const shortPauseMs = 50

// One connection, opened at the start and kept open, because receipts for earlier messages arrive on it, too.
//
//   connecting -> bound -> pausing -> connecting -> ...   and from each of them -> closed
//
// A failed connect skips `bound`. The pause grows while connecting fails. After a stable connection, a waiting message
// shortens the pause.
export class SmppSession {
  readonly #settings: SmppSettings
  readonly #times: SmppSessionTimes
  readonly #onPdu: (pdu: Pdu) => void
  readonly #warnings: Warnings
  readonly #waitForPause: MessengerTools['pause']
  readonly #waiting = new Set<(connection?: SmppConnection) => void>() // undefined: the session is closed
  #state: SessionState = { name: 'connecting' }
  #failures = 0

  constructor(
    settings: SmppSettings,
    tools: MessengerTools,
    times: SmppSessionTimes,
    onPdu: (pdu: Pdu) => void,
  ) {
    this.#settings = settings
    this.#times = times
    this.#onPdu = onPdu
    this.#warnings = warnOnChange(tools, 'SMPP')
    this.#waitForPause = tools.pause
    void this.#run()
  }

  // The connection, as soon as there is one. Throws if the session is closed, or after `readyMs`.
  async bound(): Promise<SmppConnection> {
    const state = this.#state
    if (state.name === 'closed') throw new Error('The session is closed.')
    if (state.name === 'bound' && state.connection.isOpen) return state.connection
    let resolveNext!: (connection?: SmppConnection) => void
    const next = new Promise<SmppConnection | undefined>(resolve => {
      resolveNext = resolve
    })
    this.#waiting.add(resolveNext)
    this.#shortenPause()
    try {
      const { readyMs } = this.#times
      const connection = await withTimeout(next, readyMs, 'There is no connection to the SMS centre.')
      if (!connection) throw new Error('The session is closed.')
      return connection
    } finally {
      this.#waiting.delete(resolveNext)
    }
  }

  async close() {
    const before = this.#state
    this.#state = { name: 'closed' }
    for (const resolve of this.#waiting) resolve()
    if (before.name === 'pausing') before.endSoon()
    if (before.name === 'bound') await unbind(before.connection, this.#times.closeMs)
  }

  async #run() {
    while (!this.#isClosed()) {
      this.#state = { name: 'connecting' }
      await this.#waitForPause?.()
      if (this.#isClosed()) return
      const startedAt = performance.now()
      const { wasBound, reason } = await this.#connectAndServe()
      if (this.#isClosed()) return
      const wasStable = wasBound && performance.now() - startedAt >= this.#times.stableMs
      this.#failures = wasStable ? 0 : this.#failures + 1
      if (wasStable) this.#warnings.succeeded()
      this.#warnings.failed(cleanReason(reason))
      await this.#pause()
    }
  }

  #isClosed() {
    return this.#state.name === 'closed'
  }

  // connecting -> bound. Returns when the connection has ended, with the reason.
  async #connectAndServe(): Promise<{ wasBound: boolean; reason: string }> {
    try {
      const connection = await connectAndBind(this.#settings, this.#times, this.#onPdu)
      if (this.#isClosed()) connection.end('Closed by us.')
      else this.#state = { name: 'bound', connection }
      for (const resolve of this.#waiting) resolve(connection)
      return { wasBound: true, reason: await connection.ended }
    } catch (error) {
      return { wasBound: false, reason: (error as Error).message }
    }
  }

  // bound or connecting -> pausing. Returns at the end of the pause.
  #pause() {
    const { firstPauseMs, maxPauseMs } = this.#times
    const ms = Math.min(firstPauseMs * 2 ** Math.max(this.#failures - 1, 0), maxPauseMs)
    return new Promise<void>(resolve => {
      const timer = setTimeout(resolve, ms)
      const endSoon = () => {
        clearTimeout(timer)
        setTimeout(resolve, shortPauseMs)
      }
      this.#state = { name: 'pausing', endSoon }
      if (this.#waiting.size > 0) this.#shortenPause()
    })
  }

  #shortenPause() {
    if (this.#state.name === 'pausing' && this.#failures === 0) this.#state.endSoon()
  }
}

async function unbind(connection: SmppConnection, maxMs: number) {
  if (connection.isOpen) await withTimeout(connection.request('unbind'), maxMs, '').catch(() => {})
  connection.end('Closed by us.')
}

// A bound connection. Throws the reason if there is none.
async function connectAndBind(
  settings: SmppSettings,
  times: ConnectTimes,
  onPdu: (pdu: Pdu) => void,
  command = 'bind_transceiver',
): Promise<SmppConnection> {
  const socket = openSocket(settings)
  const connection = openSmppConnection(socket, pdu => {
    idleTimer.refresh()
    onPdu(pdu)
  })
  const idleTimer = setTimeout(() => void enquire(connection, times.enquireMs), times.idleMs)
  void connection.ended.then(() => clearTimeout(idleTimer))
  const failed = connection.ended.then(reason => {
    throw new Error(reason)
  })
  try {
    const event = settings.tls ? 'secureConnect' : 'connect'
    const connected = new Promise<void>(resolve => socket.once(event, () => resolve()))
    await withTimeout(Promise.race([connected, failed]), times.connectMs, 'No connection in time.')
    const bind = connection.request(command, settings.bind)
    const { command_status } = await withTimeout(bind, times.connectMs, 'No answer to the bind.')
    const status = statusName(command_status)
    if (command_status) throw new BindRefused(`The bind was refused: ${status}.`, status)
    return connection
  } catch (error) {
    connection.end('The bind failed.')
    throw error
  }
}

class BindRefused extends Error {
  readonly status: string
  constructor(message: string, status: string) {
    super(message)
    this.status = status
  }
}

// A bind as transmitter, which gets no receipts: those are for the nodes. A centre that permits only the binds of the nodes
// says that this system is bound already, and so knows it.
export async function checkBind(settings: SmppSettings, deadlineMs: number): Promise<MessengerCheck> {
  const { host, port, tls, ca } = settings
  const server = `${host}:${port}`
  const reached = 'accepts the bind'
  const { failed } = await reach({ host, port, tls, ca }, deadlineMs)
  if (failed) return { server, reached, failed }
  const times = { connectMs: deadlineMs, idleMs: 2 * deadlineMs, enquireMs: deadlineMs }
  try {
    const connection = await connectAndBind(settings, times, () => {}, 'bind_transmitter')
    await unbind(connection, deadlineMs)
    return { server, reached }
  } catch (error) {
    if (error instanceof BindRefused && error.status === 'ESME_RALYBND')
      return { server, reached: 'knows the system, which is bound' }
    const step = error instanceof BindRefused ? 'login' : 'greeting'
    return { server, reached, failed: { step, why: cleanReason((error as Error).message) } }
  }
}

function openSocket({ host, port, tls, ca }: SmppSettings) {
  const servername = isIP(host) ? undefined : host
  const socket = tls
    ? connectTls({ host, port, ca, servername, minVersion: 'TLSv1.2' })
    : connectPlain({ host, port })
  return socket.setNoDelay(true)
}

const enquire = (connection: SmppConnection, maxMs: number) =>
  withTimeout(connection.request('enquire_link'), maxMs, 'The SMS centre does not answer any more.').catch(
    (error: Error) => connection.end(error.message),
  )
