import type { MessengerSettings, MessengerTools } from '../../core/message/messenger.ts'
import { isLoopback, parseServerUrl, readCa, readEach } from '../common/serverSettings.ts'
import type { PduFields } from './connection.ts'

export type SmppSettings = {
  host: string
  port: number
  tls: boolean
  ca?: string
  bind: PduFields
  source: PduFields
  rate: number // messages a second
  window: number // submits without a response
}

const version = 0x34 // of the protocol: 3.4
const maxRate = 1000
const maxWindow = 500

export function readSmppSettings(
  settings: MessengerSettings,
  { warn }: MessengerTools,
): SmppSettings | undefined {
  const { SMPP_URL, SMPP_FROM, SMPP_SYSTEM_TYPE: system_type = '', SMPP_TLS_CA } = settings
  if (!SMPP_URL) return undefined
  if (!SMPP_FROM) {
    warn('SMPP_URL is set and SMPP_FROM is not: no SMS is sent by SMPP.')
    return undefined
  }
  const { server, ...rest } = readEach({
    server: () => readServer(SMPP_URL, system_type),
    ca: () => readCa('SMPP_TLS_CA', SMPP_TLS_CA),
    source: () => sourceOf(SMPP_FROM),
    rate: () => readNumber('SMPP_RATE', settings.SMPP_RATE, 10, maxRate),
    window: () => readNumber('SMPP_WINDOW', settings.SMPP_WINDOW, 10, maxWindow),
  })
  if (!server.tls && !isLoopback(server.host))
    warn('SMPP_URL: the password and the messages travel without encryption.')
  return { ...server, ...rest }
}

function readServer(url: string, system_type: string): Pick<SmppSettings, 'host' | 'port' | 'tls' | 'bind'> {
  const { protocol, host, port, user, password, query } = parseServerUrl('SMPP_URL', url, {
    'smpp:': 2775,
    'ssmpp:': 3550,
  })
  if (query.size > 0) throw new Error('SMPP_URL: nothing may follow the port.')
  if (![user, password, system_type].every(isCString) || !user)
    throw new Error(
      'SMPP_URL: the system_id is missing, or it or the password or SMPP_SYSTEM_TYPE is not ASCII.',
    )
  const bind = { system_id: user, password, system_type, interface_version: version }
  return { host, port, tls: protocol === 'ssmpp:', bind }
}

const isCString = (text: string) => /^[\x20-\x7e]{0,64}$/.test(text)

// TON and NPI depend on the sender: a short code, an international number, or a name.
function sourceOf(from: string): PduFields {
  const digits = /^\+?(\d{1,15})$/.exec(from)?.[1]
  if (digits && digits.length <= 6) return { source_addr: digits, source_addr_ton: 3, source_addr_npi: 0 }
  if (digits) return { source_addr: digits, source_addr_ton: 1, source_addr_npi: 1 }
  if (!/^[A-Za-z0-9 &.-]{1,11}$/.test(from))
    throw new Error('SMPP_FROM: must be a number, or a name of at most 11 letters, digits, spaces, & . -')
  return { source_addr: from, source_addr_ton: 5, source_addr_npi: 0 }
}

function readNumber(name: string, text: string | undefined, defaultValue: number, max: number) {
  const number = Number(text || defaultValue)
  if (Number.isInteger(number) && number >= 1 && number <= max) return number
  throw new Error(`${name}: must be a whole number from 1 to ${max}.`)
}
