import { connect as connectPlain, isIP } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { MessengerTools } from '../../core/message/messenger.ts'
import { withTimeout } from '../common/waiting.ts'
import { cleanReason, warnOnChange } from '../common/warnings.ts'
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
export type SmppSession = { bound(): Promise<SmppConnection>; close(): Promise<void> }

type SessionState =
  | { name: 'connecting' }
  | { name: 'bound'; connection: SmppConnection }
  | { name: 'pausing'; finish(): void }
  | { name: 'closed' }

const shortPauseMs = 50

// One connection, opened at the start and kept open, because receipts for earlier messages arrive on it, too.
//
//   connecting -> bound -> pausing -> connecting -> ...   and from each of them -> closed
//
// A failed connect skips `bound`. The pause grows while connecting fails. After a stable connection, a waiting message
// shortens the pause.
export function openSmppSession(
  settings: SmppSettings,
  tools: MessengerTools,
  times: SmppSessionTimes,
  onPdu: (pdu: Pdu) => void,
): SmppSession {
  const warnings = warnOnChange(tools, 'SMPP')
  const waiting = new Set<(connection?: SmppConnection) => void>() // undefined: the session is closed
  let state: SessionState = { name: 'connecting' }
  let failures = 0
  const isClosed = () => state.name === 'closed'

  async function run() {
    while (!isClosed()) {
      state = { name: 'connecting' }
      const startedAt = performance.now()
      const { wasBound, reason } = await connectAndServe()
      if (isClosed()) return
      const wasStable = wasBound && performance.now() - startedAt >= times.stableMs
      failures = wasStable ? 0 : failures + 1
      if (wasStable) warnings.succeeded()
      warnings.failed(cleanReason(reason))
      await pause()
    }
  }

  // Ends when the connection does, and returns why.
  async function connectAndServe(): Promise<{ wasBound: boolean; reason: string }> {
    try {
      const connection = await connectAndBind(settings, times, onPdu)
      if (isClosed()) connection.end('Closed by us.')
      else state = { name: 'bound', connection }
      for (const resolve of waiting) resolve(connection)
      return { wasBound: true, reason: await connection.ended }
    } catch (error) {
      return { wasBound: false, reason: (error as Error).message }
    }
  }

  function pause() {
    const ms = Math.min(times.firstPauseMs * 2 ** Math.max(failures - 1, 0), times.maxPauseMs)
    return new Promise<void>(resolve => {
      const timer = setTimeout(resolve, ms)
      const finish = () => {
        clearTimeout(timer)
        setTimeout(resolve, shortPauseMs)
      }
      state = { name: 'pausing', finish }
      if (waiting.size > 0) shortenPause()
    })
  }

  function shortenPause() {
    if (state.name === 'pausing' && failures === 0) state.finish()
  }

  async function bound(): Promise<SmppConnection> {
    if (state.name === 'closed') throw new Error('The session is closed.')
    if (state.name === 'bound' && state.connection.isOpen) return state.connection
    let settle!: (connection?: SmppConnection) => void
    const next = new Promise<SmppConnection | undefined>(resolve => {
      settle = resolve
    })
    waiting.add(settle)
    shortenPause()
    try {
      const connection = await withTimeout(next, times.readyMs, 'There is no connection to the SMS centre.')
      if (!connection) throw new Error('The session is closed.')
      return connection
    } finally {
      waiting.delete(settle)
    }
  }

  async function close() {
    const before = state
    state = { name: 'closed' }
    for (const settle of waiting) settle()
    if (before.name === 'pausing') before.finish()
    if (before.name === 'bound') await unbind(before.connection, times.closeMs)
  }

  void run()
  return { bound, close }
}

async function unbind(connection: SmppConnection, maxMs: number) {
  if (connection.isOpen) await withTimeout(connection.request('unbind'), maxMs, '').catch(() => {})
  connection.end('Closed by us.')
}

// A connection that is bound as transceiver. Throws the reason if there is none.
async function connectAndBind(
  settings: SmppSettings,
  times: ConnectTimes,
  onPdu: (pdu: Pdu) => void,
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
    const bind = connection.request('bind_transceiver', settings.bind)
    const { command_status } = await withTimeout(bind, times.connectMs, 'No answer to the bind.')
    if (command_status) throw new Error(`The bind was refused: ${statusName(command_status)}.`)
    return connection
  } catch (error) {
    connection.end('The bind failed.')
    throw error
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
