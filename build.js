// Turns src/ into dist/, file by file, so that every path and name in dist/ is the one in src/. The SDK, which the demo
// shop runs on, is in dist/sdk/.
// A checkout has no build step to remember: the launcher calls this and it does nothing when dist/ is
// already made from exactly these sources. A packed Tollgate ships dist/ ready.
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(fileURLToPath(import.meta.url))
const src = join(root, 'src')
const dist = join(root, 'dist')
const sdk = join('sdk', 'node', 'src')

const options = {
  target: 'node20',
  sourceType: 'module',
  jsx: { runtime: 'automatic', importSource: '#markup' },
  typescript: { rewriteImportExtensions: true }, // an import of .ts or .tsx becomes one of .js
}

export async function build() {
  const files = [...filesIn(src), ...filesIn(join(root, sdk)).map(file => join('sdk', file))]
  const sources = digest(files)
  if (sources === stamp()) return

  // Two commands may build at once, so each works in its own folder and moves finished files over.
  const work = `${dist}.${process.pid}`
  try {
    await compile(files, work)
    const made = files.map(file => file.replace(/\.tsx?$/, '.js'))
    for (const file of made) {
      mkdirSync(dirname(join(dist, file)), { recursive: true })
      renameSync(join(work, file), join(dist, file))
    }
    for (const file of filesIn(dist)) if (!made.includes(file)) rmSync(join(dist, file), { force: true })
    writeFileSync(join(work, '.stamp'), sources)
    renameSync(join(work, '.stamp'), join(dist, '.stamp'))
  } catch (error) {
    throw new Error(`Tollgate could not be built into ${dist}: ${error.message}`, { cause: error })
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

// src/ has no folder called sdk.
const sourceOf = file =>
  file.startsWith(join('sdk', '/')) ? join(root, sdk, file.slice('sdk/'.length)) : join(src, file)

async function compile(files, outdir) {
  const { transformSync } = await import('oxc-transform')
  for (const file of files) {
    mkdirSync(dirname(join(outdir, file)), { recursive: true })
    if (!/\.tsx?$/.test(file)) {
      copyFileSync(sourceOf(file), join(outdir, file))
      continue
    }
    const { code, errors } = transformSync(file, readFileSync(sourceOf(file), 'utf8'), options)
    const [error] = errors
    if (error) throw new Error(`${file}: ${error.message}`)
    writeFileSync(join(outdir, file.replace(/\.tsx?$/, '.js')), code)
  }
}

const filesIn = folder =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(file => file.isFile())
    .map(file => join(file.parentPath, file.name).slice(folder.length + 1))
    .sort()

function digest(files) {
  const hash = createHash('sha256').update(readFileSync(fileURLToPath(import.meta.url)))
  for (const file of files)
    hash
      .update(file)
      .update('\0')
      .update(readFileSync(sourceOf(file)))
  return hash.digest('hex')
}

function stamp() {
  try {
    return readFileSync(join(dist, '.stamp'), 'utf8')
  } catch {
    return undefined
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await build()
