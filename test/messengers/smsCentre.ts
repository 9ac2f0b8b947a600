import { once } from 'node:events'
import { createRequire } from 'node:module'
import type { AddressInfo, Server, Socket } from 'node:net'

const smpp = createRequire(import.meta.url)('smpp')

export type Submit = {
  id: string
  to: string
  from: string
  text: string // of this part
  ref?: number
  of: number
  part: number
  data_coding: number
  ton: number
  npi: number
  at: number
}
export type CentreOptions = {
  password?: string
  bindStatus?: number
  answer?: (submit: Submit, count: number) => Answer
  ids?: (count: number) => string
  key?: string
  cert?: string
}
export type Answer = 'ok' | 'silent' | 'cut' | number | { late: number } | 'nack'

// An SMS centre, by the server of the package `smpp`.
export async function openCentre(options: CentreOptions = {}, port = 0) {
  const submits: Submit[] = [] // that were accepted, or may have been
  const binds: any[] = []
  const commands: string[] = []
  const sessions = new Set<any>()
  let submitCount = 0
  let waiting = 0
  let mostWaiting = 0

  const server: Server = smpp.createServer(
    options.key ? { key: options.key, cert: options.cert } : {},
    (session: any) => {
      sessions.add(session)
      session.on('error', () => {})
      session.on('close', () => sessions.delete(session))
      session.on('pdu', (pdu: any) => void commands.push(pdu.command))
      for (const command of ['bind_transceiver', 'bind_transmitter'])
        session.on(command, (pdu: any) => {
          binds.push(pdu)
          const wrong = options.password !== undefined && pdu.password !== options.password
          session.send(pdu.response({ command_status: wrong ? 0x0e : (options.bindStatus ?? 0) }))
        })
      session.on('enquire_link', (pdu: any) => session.send(pdu.response()))
      session.on('unbind', (pdu: any) => session.send(pdu.response(), () => session.close()))
      session.on('submit_sm', (pdu: any) => submitted(session, pdu))
    },
  )
  server.on('tlsClientError', () => {})

  function submitted(session: any, pdu: any) {
    submitCount++
    mostWaiting = Math.max(mostWaiting, ++waiting)
    const submit = read(pdu, options.ids?.(submitCount) ?? `m${submitCount}`)
    const answer = options.answer?.(submit, submitCount) ?? 'ok'
    if (typeof answer !== 'number' && answer !== 'nack') submits.push(submit)
    const reply = () => {
      waiting--
      session.send(pdu.response({ message_id: submit.id }))
    }
    if (answer === 'cut') session.destroy()
    else if (answer === 'ok') reply()
    else if (answer === 'nack')
      refuse(new smpp.PDU('generic_nack', { ...sequenceOf(pdu), command_status: 3 }))
    else if (typeof answer === 'number') refuse(pdu.response({ command_status: answer }))
    else if (answer !== 'silent') setTimeout(reply, answer.late)

    function refuse(no: object) {
      waiting--
      session.send(no)
    }
  }

  await once(server.listen(port, '127.0.0.1'), 'listening')
  const { port: open } = server.address() as AddressInfo
  return {
    submits,
    binds,
    commands,
    sessions,
    options,
    port: open,
    url: `smpp://tollgate:pass@127.0.0.1:${open}`,
    submitCount: () => submitCount,
    mostWaiting: () => mostWaiting,
    raw: (): Socket => [...sessions][0].socket,
    ask: (command: string, fields: object = {}) =>
      new Promise<any>(resolve => [...sessions][0][command](fields, resolve)),
    receipt: (id: string, stat: string, fields: object = {}) =>
      new Promise<any>(resolve => {
        const short_message = `id:${id} sub:001 dlvrd:001 submit date:2601010101 done date:2601010102 stat:${stat} err:012 text:Hi`
        ;[...sessions][0].deliver_sm({ esm_class: 4, short_message, ...fields }, resolve)
      }),
    async stop() {
      for (const session of sessions) session.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

const sequenceOf = ({ sequence_number }: any) => ({ sequence_number })

function read(pdu: any, id: string): Submit {
  const { message, udh } = pdu.short_message
  const joint = udh?.[0] as Buffer | undefined
  return {
    id,
    to: pdu.destination_addr,
    from: pdu.source_addr,
    text: message,
    ref: joint?.[2],
    of: joint?.[3] ?? 1,
    part: joint?.[4] ?? 1,
    data_coding: pdu.data_coding,
    ton: pdu.source_addr_ton,
    npi: pdu.source_addr_npi,
    at: performance.now(),
  }
}

export const join = (submits: readonly Submit[]) =>
  [...submits]
    .sort((a, b) => a.part - b.part)
    .map(({ text }) => text)
    .join('')
