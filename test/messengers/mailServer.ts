import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

export type TakenMail = { from: string; to: string[]; raw: string; mail: Email }

// A mail server that takes everything, unless it is told otherwise.
export async function openMailServer(options: SMTPServerOptions = {}, port = 0) {
  const taken: TakenMail[] = []
  const counts = { connections: 0 }
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: options.secure || options.key ? [] : ['STARTTLS'],
    disableReverseLookup: true,
    closeTimeout: 100, // for connections that a client keeps
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
  server.on('error', () => {}) // a client that hangs up is part of the story
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
export type Deed = { say: string } | 'cut' | 'hang' | { late: number }

const usual: Record<Stage, string> = {
  greeting: '220 here',
  EHLO: '250 here',
  MAIL: '250 fine',
  RCPT: '250 fine',
  DATA: '354 go on',
  body: '', // nobody answers while it is being read
  dot: '250 taken',
}

// Line by line by hand, so that anything can go wrong at any stage. `deeds` are used up, one connection each.
export async function openCrookedServer(stage: Stage, deeds: Deed[]) {
  const heard: Stage[] = []
  const taken: string[] = [] // what was answered with "taken", or would have been
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    const deed = deeds.shift()
    let body: string[] | undefined

    function reach(at: Stage) {
      heard.push(at)
      const now = at === stage ? deed : undefined
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
      for (const line of lines) if (!socket.destroyed) hear(line)
    })

    function hear(line: string) {
      const verb = line.slice(0, 4).toUpperCase()
      if (body && line === '.') {
        taken.push(body.join('\n'))
        body = undefined
        reach('dot')
      } else if (body && body.push(line) === 1 && stage === 'body' && deed === 'cut') socket.destroy()
      else if (body) return
      else if (verb === 'QUIT') socket.end('221 bye\r\n')
      else if (verb === 'RSET') socket.write('250 fine\r\n')
      else reach(stages.find(one => one.toUpperCase() === verb) ?? 'EHLO')
    }

    reach('greeting')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    heard,
    taken,
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
