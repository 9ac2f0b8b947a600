import { connect as connectPlain, isIP } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { within } from '../common/within.ts'
import { type Pdu, statusName } from './library.ts'
import type { SmppSettings } from './settings.ts'
import { openWire, type Wire } from './wire.ts'

export type DialTimes = {
  connectMs: number // for the connection, and again for the bind
  idleMs: number // without a word, then we ask whether anybody is there
  enquireMs: number // for the answer to that
}

// A connection that is bound in both directions, or an error that says why not.
export async function dial(
  settings: SmppSettings,
  times: DialTimes,
  hear: (pdu: Pdu) => void,
): Promise<Wire> {
  const socket = open(settings)
  const wire = openWire(socket, pdu => {
    enquiry.refresh()
    hear(pdu)
  })
  const enquiry = setTimeout(() => void enquire(wire, times.enquireMs), times.idleMs)
  void wire.ended.then(() => clearTimeout(enquiry))
  try {
    const event = settings.tls ? 'secureConnect' : 'connect'
    const connected = new Promise<void>(resolve => socket.once(event, () => resolve()))
    await within(Promise.race([connected, failed(wire)]), times.connectMs, 'No connection in time.')
    const bind = wire.ask('bind_transceiver', settings.bind)
    const { command_status } = await within(bind, times.connectMs, 'No answer to the bind.')
    if (command_status) throw new Error(`The bind was refused: ${statusName(command_status)}.`)
    return wire
  } catch (error) {
    wire.end('The bind failed.')
    throw error
  }
}

function open({ host, port, tls, ca }: SmppSettings) {
  const servername = isIP(host) ? undefined : host
  const socket = tls
    ? connectTls({ host, port, ca, servername, minVersion: 'TLSv1.2' })
    : connectPlain({ host, port })
  return socket.setNoDelay(true)
}

const failed = (wire: Wire) =>
  wire.ended.then(words => {
    throw new Error(words)
  })

const enquire = (wire: Wire, ms: number) =>
  within(wire.ask('enquire_link'), ms, 'The other side has fallen silent.').catch((error: Error) =>
    wire.end(error.message),
  )
