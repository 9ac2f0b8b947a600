import { parseArgs } from 'node:util'
import { facts, heading, paint, table } from '../../src/cli/terminal.ts'
import { type SimulatedAccount, simulatedMtn, simulatedPaystack } from './accounts.ts'

// Simulated providers in test and live mode, and the commands that connect a gateway to them.
const firstPort = 4301
const usualGateway = 'http://localhost:8080'

function manual(played: readonly SimulatedAccount[]): string {
  return `${played.map(chapter).join('\n')}
${heading('How to use them')}

Start a gateway on a database that takes no real payments, and run the command of each account that you want. Where
there is a webhook command, put the address that ${paint('bold', 'provider add')} prints in place of ADDRESS: it stands for
the provider's dashboard. docs/going-live.md leads through all of it in live mode.

For test payments alone the settings do as well: start the gateway with them, and with
  export TOLLGATE_PROVIDERS=paystack,mtn
by which these accounts serve before the sandbox. Ctrl-C ends this.
`
}

function chapter(one: SimulatedAccount): string {
  const parts = [
    [`${heading(one.name)}   ${paint('green', one.url)}`],
    ['  Store an account:', `  ${one.add}`, ...(one.webhook ? [`  ${one.webhook}`] : [])],
    Object.entries(one.settings ?? {}).map(([name, value]) => `  export ${name}=${value}`),
    one.notes.map(note => `  ${note}`),
    [
      ...(one.numbers.length > 0 ? [table(['  number', 'what happens'], indented(one.numbers))] : []),
      `  ${paint('dim', one.others)}`,
    ],
    [facts(one.controls.map(([name, body]) => [name, controlLine(one.url, name, body)] as const))],
  ]
  return parts
    .filter(lines => lines.length > 0)
    .map(lines => `${lines.join('\n')}\n`)
    .join('\n')
}

const indented = (rows: SimulatedAccount['numbers']) => rows.map(([number, what]) => [`  ${number}`, what])

const controlLine = (url: string, name: string, body: string) => `curl -d '${body}' ${url}/control/${name}`

const usage = 'npm run simulate -- [--port FIRST_PORT] [--gateway URL]'

function readArgs(args: readonly string[]) {
  try {
    const options = {
      port: { type: 'string' },
      gateway: { type: 'string' },
      help: { type: 'boolean' },
    } as const
    return parseArgs({ args: [...args], options }).values
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n${usage}\n`)
    return process.exit(2)
  }
}

export async function main(args: readonly string[]) {
  const values = readArgs(args)
  if (values.help) {
    process.stdout.write(`${usage}\n`)
    return
  }
  const port = Number(values.port ?? firstPort)
  const gateway = values.gateway ?? usualGateway
  const options = (offset: number) => ({ port: port && port + offset, gateway })
  const played = [
    await simulatedPaystack('test', options(0)),
    await simulatedMtn('test', options(1)),
    await simulatedPaystack('live', options(2)),
    await simulatedMtn('live', options(3)),
  ]
  process.stdout.write(manual(played))
  const leave = async () => {
    for (const { stop } of played) await stop()
    process.exit(0)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void leave())
}
