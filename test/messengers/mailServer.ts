import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

export type TakenMail = { from: string; to: string[]; raw: string; mail: Email }

// A mail server that accepts everything, unless the options change that.
export async function openMailServer(options: SMTPServerOptions = {}, port = 0) {
  const taken: TakenMail[] = []
  const counts = { connections: 0 }
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: options.secure || options.key ? [] : ['STARTTLS'],
    disableReverseLookup: true,
    closeTimeout: 100, // for connections that a client keeps open
    onConnect(_session, done) {
      counts.connections++
      done()
    },
    async onData(stream, { envelope }, done) {
      const chunks: Buffer[] = []
      for await (const chunk of stream) chunks.push(chunk as Buffer)
      const raw = Buffer.concat(chunks)
      const from = envelope.mailFrom ? envelope.mailFrom.address : ''
      const to = envelope.rcptTo.map(({ address }) => address)
      taken.push({ from, to, raw: raw.toString('latin1'), mail: await PostalMime.parse(raw) })
      done()
    },
    ...options,
  })
  server.on('error', () => {}) // clients hang up in some tests
  await once(server.listen(port, '127.0.0.1'), 'listening').catch(() => {})
  const { port: open } = server.server.address() as AddressInfo
  return {
    taken,
    counts,
    port: open,
    url: `smtp://127.0.0.1:${open}`,
    stop: () => new Promise<void>(done => server.close(() => done())),
  }
}

export const stages = ['greeting', 'EHLO', 'MAIL', 'RCPT', 'DATA', 'body', 'dot'] as const
export type Stage = (typeof stages)[number]
export type ServerFault = { say: string } | 'cut' | 'hang' | { late: number }

const usual: Record<Stage, string> = {
  greeting: '220 here',
  EHLO: '250 here',
  MAIL: '250 fine',
  RCPT: '250 fine',
  DATA: '354 go on',
  body: '', // there is no answer while it is read
  dot: '250 taken',
}

// An SMTP server that fails at a given stage. Each connection takes the next one of `faults`.
export async function openFaultyServer(stage: Stage, faults: ServerFault[]) {
  const reached: Stage[] = []
  const taken: string[] = [] // mails that were accepted, or would have been
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    const fault = faults.shift()
    let body: string[] | undefined

    function reach(at: Stage) {
      reached.push(at)
      const now = at === stage ? fault : undefined
      if (now === 'cut') socket.destroy()
      if (now === 'cut' || now === 'hang') return
      const answer = now && 'say' in now ? now.say : usual[at]
      setTimeout(() => socket.write(`${answer}\r\n`), now && 'late' in now ? now.late : 0)
      if (at === 'DATA' && answer.startsWith('354')) body = []
    }

    let rest = ''
    socket.setEncoding('latin1').on('data', chunk => {
      const lines = (rest + String(chunk)).split('\r\n')
      rest = lines.pop() ?? ''
      for (const line of lines) if (!socket.destroyed) handle(line)
    })

    function handle(line: string) {
      const verb = line.slice(0, 4).toUpperCase()
      if (body && line === '.') {
        taken.push(body.join('\n'))
        body = undefined
        reach('dot')
      } else if (body && body.push(line) === 1 && stage === 'body' && fault === 'cut') socket.destroy()
      else if (body) return
      else if (verb === 'QUIT') socket.end('221 bye\r\n')
      else if (verb === 'RSET') socket.write('250 fine\r\n')
      else reach(stages.find(one => one.toUpperCase() === verb) ?? 'EHLO')
    }

    reach('greeting')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    reached,
    taken,
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
