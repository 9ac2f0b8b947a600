import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import type { SettingChange } from '../../core/provider/accountSettings.ts'
import { refused } from '../failure.ts'
import { readSmallFile } from '../smallFile.ts'

const maxBytes = 64 * 1024

export type Input = NodeJS.ReadableStream & { isTTY?: boolean }

// Arguments are `name=value`, `name=@file` (read from a file) or `name=-` (typed or piped in). A secret on the command line
// stays in the history of the shell, and other users see it while the command runs.
export async function readChanges(
  args: readonly string[],
  input: Input = process.stdin,
): Promise<SettingChange[]> {
  const split = args.map(splitArgument)
  const wrong = split.flatMap(([name, value]) =>
    value === undefined ? [`${name}: write it as NAME=VALUE`] : [],
  )
  if (wrong.length > 0) throw refused('Nothing was changed.', { faults: wrong })
  const typed = split.filter(([, value]) => value === '-').map(([name]) => name)
  const secrets = await readSecrets(typed, input)
  const changes: SettingChange[] = []
  for (const [name, value = ''] of split)
    changes.push([name, value === '-' ? (secrets.get(name) ?? '') : await valueOf(value)])
  return changes
}

function splitArgument(arg: string): [name: string, value?: string] {
  const [, name, value] = /^([^=]*)=(.*)$/s.exec(arg) ?? []
  return name === undefined ? [arg] : [name.trim(), value]
}

const valueOf = async (value: string) =>
  value.startsWith('@')
    ? withoutLastBreak((await readSmallFile(value.slice(1), maxBytes)).toString('utf8'))
    : value

async function readSecrets(names: readonly string[], input: Input): Promise<Map<string, string>> {
  if (names.length === 0) return new Map()
  const texts = input.isTTY ? await askFor(names, input) : splitPiped(await readPiped(input), names.length)
  return new Map(names.map((name, at) => [name, texts[at] ?? '']))
}

// A single secret may have several lines. Of several secrets each has one line.
const splitPiped = (text: string, count: number) =>
  count === 1 ? [withoutLastBreak(text)] : text.split(/\r?\n/)

const withoutLastBreak = (text: string) => text.replace(/\r?\n$/, '')

async function readPiped(input: Input): Promise<string> {
  let text = ''
  for await (const chunk of input) {
    text += String(chunk)
    if (text.length > maxBytes) throw refused(`Standard input has more than ${maxBytes / 1024} kB.`)
  }
  return text
}

// Does not echo what is typed.
async function askFor(names: readonly string[], input: Input): Promise<string[]> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input, output: nowhere, terminal: true })
  const ask = (name: string) =>
    new Promise<string>((resolve, reject) => {
      process.stderr.write(`${name} (what you type is not shown): `)
      lines.once('SIGINT', () => reject(refused('Nothing was changed.')))
      lines.question('', resolve)
    }).finally(() => process.stderr.write('\n'))
  try {
    const typed: string[] = []
    for (const name of names) typed.push(await ask(name))
    return typed
  } finally {
    lines.close()
  }
}
