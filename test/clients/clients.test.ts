import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { openapiDocument } from '../../src/web/openapi/document.ts'
import { fetchUse, fetchMistakes } from './openapiFetchUse.ts'
import { classMistakes, classUse } from './swaggerApiUse.ts'

// Clients that generators make from the OpenAPI document, and a few lines of each that a shop would write. Both are
// compiled by the TypeScript that the generator depends on.

const run = promisify(execFile)

// The folder of a package, as a file of another folder resolves it.
const folderOf = (name: string, from: string) =>
  dirname(createRequire(join(from, 'package.json')).resolve(`${name}/package.json`))

const here = import.meta.dirname
const openapiTypescript = folderOf('openapi-typescript', here)
const swaggerTypescriptApi = folderOf('swagger-typescript-api', here)

const compilerOptions = {
  strict: true,
  target: 'es2022',
  module: 'nodenext',
  lib: ['es2022', 'dom'],
  types: [],
  noEmit: true,
  allowImportingTsExtensions: true,
}

for (const { generator, folder: installed, args, use, mistakes } of [
  {
    generator: 'openapi-typescript',
    folder: openapiTypescript,
    args: ['bin/cli.js', 'openapi.json', '-o', 'client.ts'],
    use: fetchUse,
    mistakes: fetchMistakes,
  },
  {
    generator: 'swagger-typescript-api',
    folder: swaggerTypescriptApi,
    args: ['dist/cli.mjs', 'generate', '-p', 'openapi.json', '-o', '.', '-n', 'client.ts'],
    use: classUse,
    mistakes: classMistakes,
  },
])
  test(`the lines of a shop compile against a client of ${generator}, and mistakes do not`, async () => {
    const cwd = mkdtempSync(join(tmpdir(), 'tollgate-client-'))
    onTestFinished(() => rmSync(cwd, { recursive: true, force: true }))
    const write = (file: string, content: string) => writeFileSync(join(cwd, file), content)
    write('openapi.json', JSON.stringify(openapiDocument('http://127.0.0.1:8080')))
    write('package.json', '{"type":"module"}')
    mkdirSync(join(cwd, 'node_modules'))
    symlinkSync(folderOf('openapi-fetch', here), join(cwd, 'node_modules/openapi-fetch'))
    const [script = '', ...rest] = args
    await run(process.execPath, [join(installed, script), ...rest], { cwd })

    write('use.ts', use)
    write('mistakes.ts', mistakes)
    write('tsconfig.json', JSON.stringify({ compilerOptions, files: ['use.ts', 'mistakes.ts'] }))
    const tsc = join(folderOf('typescript', installed), 'bin/tsc')
    const { stdout } = await run(process.execPath, [tsc, '-p', '.', '--pretty', 'false'], { cwd }).catch(
      (error: { stdout: string }) => error,
    )
    const errors = [...stdout.matchAll(/^(\S+)\((\d+),\d+\): error .*/gm)]
    const outside = errors.filter(([, file]) => file !== 'mistakes.ts').map(([line]) => line)
    expect(outside).toEqual([])
    const marked = mistakes.split('\n').flatMap((line, at) => (line.includes('// wrong') ? [at + 1] : []))
    expect(new Set(errors.map(([, , line]) => Number(line)))).toEqual(new Set(marked))
  })
