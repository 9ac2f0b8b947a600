import { parseArgs } from 'node:util'
import { facts, heading, paint, table } from '../../src/cli/terminal.ts'
import { type Played, playMtn, playPaystack } from './played.ts'

// Providers for a person to play with, and a gateway to point at them.
const firstPort = 4301
const usualGateway = 'http://localhost:8080'

function manual(played: readonly Played[]): string {
  const all = played.map(one =>
    [
      `${heading(one.name)}   ${paint('green', one.url)}`,
      '',
      ...Object.entries(one.settings).map(([name, value]) => `  export ${name}=${value}`),
      '',
      ...one.notes.map(note => `  ${note}`),
      '',
      table([{ title: '  number' }, { title: 'what happens' }], indented(one.numbers)),
      `  ${paint('dim', one.others)}`,
      '',
      facts(one.controls.map(([name, body]) => [name, controlLine(one.url, name, body)] as const)),
      '',
    ].join('\n'),
  )
  return `${all.join('\n')}
  export TOLLGATE_CHANNELS=paystack,mtn

Start the gateway with these settings and pay in test mode. By the last one they serve before the sandbox, the
first before the second. Ctrl-C ends this.
`
}

const indented = (rows: Played['numbers']) => rows.map(([number, what]) => [`  ${number}`, what])

const controlLine = (url: string, name: string, body: string) => `curl -d '${body}' ${url}/control/${name}`

export async function main(args: readonly string[]) {
  const { values } = parseArgs({
    args: [...args],
    options: { port: { type: 'string' }, gateway: { type: 'string' }, live: { type: 'boolean' } },
  })
  const port = Number(values.port ?? firstPort)
  const gateway = values.gateway ?? usualGateway
  const played = [
    await playPaystack({ port, gateway }),
    await playMtn({ port: port && port + 1, gateway, isLive: values.live }),
  ]
  process.stdout.write(manual(played))
  const leave = async () => {
    for (const { stop } of played) await stop()
    process.exit(0)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void leave())
}
