// Turns src/ into dist/, file by file, so that every path and name in dist/ is the one in src/.
// A checkout has no build step to remember: the launcher calls this and it does nothing when dist/ is
// already made from exactly these sources. A packed Tollgate ships dist/ ready. The package for shops is built too: the
// demo shop runs on it, and its tarball is part of dist/, because the gateway serves it.
import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  buildMerchantPackage,
  filesIn,
  merchantSources,
  packMerchantPackage,
  replaceFile,
} from './sdk/node/build.js'

const root = dirname(fileURLToPath(import.meta.url))
const src = join(root, 'src')
const dist = join(root, 'dist')
const merchantTarball = join('sdk', 'merchant.tgz')

const options = {
  target: 'node20',
  sourceType: 'module',
  jsx: { runtime: 'automatic', importSource: '#markup' },
  typescript: { rewriteImportExtensions: true }, // an import of .ts or .tsx becomes one of .js
}

export async function build() {
  const files = filesIn(src)
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
    for (const file of filesIn(dist))
      if (!made.includes(file) && !file.startsWith(merchantTarball)) rmSync(join(dist, file), { force: true })
    await buildMerchantPackage()
    replaceFile(join(dist, merchantTarball), packMerchantPackage())
    writeFileSync(join(work, '.stamp'), sources)
    renameSync(join(work, '.stamp'), join(dist, '.stamp'))
  } catch (error) {
    throw new Error(`Tollgate could not be built into ${dist}: ${error.message}`, { cause: error })
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

async function compile(files, outdir) {
  const { transformSync } = await import('oxc-transform')
  for (const file of files) {
    mkdirSync(dirname(join(outdir, file)), { recursive: true })
    if (!/\.tsx?$/.test(file)) {
      copyFileSync(join(src, file), join(outdir, file))
      continue
    }
    const { code, errors } = transformSync(file, readFileSync(join(src, file), 'utf8'), options)
    const [error] = errors
    if (error) throw new Error(`${file}: ${error.message}`)
    writeFileSync(join(outdir, file.replace(/\.tsx?$/, '.js')), code)
  }
}

function digest(files) {
  const hash = createHash('sha256').update(readFileSync(fileURLToPath(import.meta.url)))
  for (const file of files)
    hash
      .update(file)
      .update('\0')
      .update(readFileSync(join(src, file)))
  for (const file of merchantSources()) hash.update(file.slice(root.length)).update(readFileSync(file))
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
