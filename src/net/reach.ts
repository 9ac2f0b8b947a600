import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { errorCode, sentenceOf } from './networkError.ts'

// Whether a server can be reached, for `tollgate doctor`: the name is resolved, a connection is opened, with TLS if asked,
// and closed again. Nothing is sent. Only for servers that the operator chose.
export type Server = { host: string; port: number; tls?: boolean; ca?: string }

export type ReachStep = 'DNS' | 'connect' | 'TLS'
export type Unreached = { step: ReachStep; why: string }
export type Reached = { failed?: Unreached; certificateEnds?: Date }

export function reach({ host, port, tls, ca }: Server, deadlineMs: number): Promise<Reached> {
  return new Promise(resolve => {
    let step: ReachStep = isIP(host) === 0 ? 'DNS' : 'connect'
    let socket: Socket = connectTcp({ host, port })
    const tcp = socket
    const end = (reached: Reached) => {
      clearTimeout(timer)
      socket.destroy()
      tcp.destroy()
      resolve(reached)
    }
    const fail = (error: Error) => end({ failed: { step, why: reasonOf(error, host) } })
    const timer = setTimeout(() => end({ failed: { step, why: 'no answer in time' } }), deadlineMs)
    socket.on('error', fail)
    socket.once('lookup', (error: Error | null) => {
      if (!error) step = 'connect'
    })
    socket.once('connect', () => {
      if (!tls) return end({})
      step = 'TLS'
      const secure: TLSSocket = connectTls(
        { socket: tcp, servername: isIP(host) === 0 ? host : '', host, ca, minVersion: 'TLSv1.2' },
        () => end({ certificateEnds: endOf(secure) }),
      )
      socket = secure.on('error', fail)
    })
  })
}

function endOf(socket: TLSSocket): Date | undefined {
  const ends = new Date(socket.getPeerCertificate().valid_to)
  return Number.isNaN(ends.getTime()) ? undefined : ends
}

function reasonOf(error: Error, host: string): string {
  const code = errorCode(error)
  if (code === 'ENOTFOUND') return `${host} does not exist`
  if (code === 'EAI_AGAIN') return `the name servers did not answer for ${host}`
  if (/WRONG_VERSION|PACKET_LENGTH|UNEXPECTED_MESSAGE/.test(code))
    return 'the server does not speak TLS on this port'
  return sentenceOf(error)
}
