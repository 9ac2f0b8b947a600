import { readFile, stat } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import type { SettingChange } from '../../core/provider/accountSettings.ts'
import { CannotDo } from '../failure.ts'

const mostBytes = 64 * 1024

// Where secrets are typed or piped in.
export type Input = NodeJS.ReadableStream & { isTTY?: boolean }

// `name=value`, `name=@file` for what stands in a file, and `name=-` for what is typed or piped in: a secret on the command
// line stays in the history of the shell, and others on the machine see it while the command runs.
export async function readChanges(
  words: readonly string[],
  input: Input = process.stdin,
): Promise<SettingChange[]> {
  const split = words.map(splitWord)
  const wrong = split.flatMap(([name, value]) =>
    value === undefined ? [`${name}: write it as NAME=VALUE`] : [],
  )
  if (wrong.length > 0) throw new CannotDo('refused', 'Nothing was changed.', { faults: wrong })
  const typed = split.filter(([, value]) => value === '-').map(([name]) => name)
  const secrets = await readSecrets(typed, input)
  const changes: SettingChange[] = []
  for (const [name, value = ''] of split)
    changes.push([name, value === '-' ? (secrets.get(name) ?? '') : await valueOf(value)])
  return changes
}

function splitWord(word: string): [name: string, value?: string] {
  const [, name, value] = /^([^=]*)=(.*)$/s.exec(word) ?? []
  return name === undefined ? [word] : [name.trim(), value]
}

const valueOf = (value: string) => (value.startsWith('@') ? readSmallFile(value.slice(1)) : value)

// Not of a pipe or a device, which may never end.
async function readSmallFile(path: string): Promise<string> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? new CannotDo('not_found', `There is no file ${path}.`) : error
  })
  if (!found.isFile()) throw new CannotDo('refused', `${path} is no file.`)
  if (found.size > mostBytes) throw new CannotDo('refused', `${path} has more than ${mostBytes / 1024} kB.`)
  return withoutLastBreak(await readFile(path, 'utf8'))
}

async function readSecrets(names: readonly string[], input: Input): Promise<Map<string, string>> {
  if (names.length === 0) return new Map()
  const texts = input.isTTY ? await askFor(names, input) : splitPiped(await readPiped(input), names.length)
  return new Map(names.map((name, at) => [name, texts[at] ?? '']))
}

// One may have several lines; several have a line each.
const splitPiped = (text: string, count: number) =>
  count === 1 ? [withoutLastBreak(text)] : text.split(/\r?\n/)

const withoutLastBreak = (text: string) => text.replace(/\r?\n$/, '')

async function readPiped(input: Input): Promise<string> {
  let text = ''
  for await (const chunk of input) {
    text += String(chunk)
    if (text.length > mostBytes)
      throw new CannotDo('refused', `More than ${mostBytes / 1024} kB came in by standard input.`)
  }
  return text
}

// On a terminal, without showing what is typed.
async function askFor(names: readonly string[], input: Input): Promise<string[]> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input, output: nowhere, terminal: true })
  const ask = (name: string) =>
    new Promise<string>((resolve, reject) => {
      process.stderr.write(`${name} (what you type is not shown): `)
      lines.once('SIGINT', () => reject(new CannotDo('refused', 'Nothing was changed.')))
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
