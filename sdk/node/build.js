// Builds dist/ of the package, JavaScript and declarations, and packs it. The gateway serves the tarball, so that a shop
// can install a package that is not published. Packing does not need npm, and the same sources give the same bytes.
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

const folder = dirname(fileURLToPath(import.meta.url))
const src = join(folder, 'src')
const dist = join(folder, 'dist')

const options = {
  target: 'node20',
  sourceType: 'module',
  typescript: { rewriteImportExtensions: true }, // an import of .ts becomes one of .js
}

export const filesIn = path =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter(file => file.isFile())
    .map(file => join(file.parentPath, file.name).slice(path.length + 1))
    .sort()

// Everything that the result depends on.
export const merchantSources = () =>
  ['build.js', 'package.json', 'README.md', 'LICENSE']
    .concat(
      filesIn(src).map(file => join('src', file)),
      filesIn(join(folder, 'bin')).map(file => join('bin', file)),
    )
    .map(file => join(folder, file))

export async function buildMerchantPackage() {
  const { isolatedDeclarationSync, transformSync } = await import('oxc-transform')
  const made = new Map()
  for (const file of filesIn(src)) {
    const source = readFileSync(join(src, file), 'utf8')
    const name = file.replace(/\.ts$/, '')
    for (const [output, { code, errors }] of [
      [`${name}.js`, transformSync(file, source, options)],
      [`${name}.d.ts`, isolatedDeclarationSync(file, source, { stripInternal: true })],
    ]) {
      if (errors.length > 0) throw new Error(`sdk/node/src/${file}: ${errors[0].message}`)
      made.set(output, code)
    }
  }
  for (const [file, code] of made) replaceFile(join(dist, file), code)
  for (const file of filesIn(dist))
    if (/\.[jt]s$/.test(file) && !made.has(file)) rmSync(join(dist, file), { force: true })
}

// Another build may run at the same time, so a file appears whole or not at all.
export function replaceFile(path, content, mode = 0o644) {
  mkdirSync(dirname(path), { recursive: true })
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, content)
  chmodSync(draft, mode)
  renameSync(draft, path)
}

// The tarball that npm would make: the files of the package in a folder `package`.
export function packMerchantPackage() {
  const { files } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const listed = files.flatMap(name => filesIn(join(folder, name)).map(file => join(name, file)))
  const names = ['package.json', 'README.md', 'LICENSE', ...listed].toSorted((a, b) => (a < b ? -1 : 1))
  const entries = names.flatMap(name => tarEntry(`package/${name}`, readFileSync(join(folder, name))))
  return gzipSync(Buffer.concat([...entries, Buffer.alloc(1024)]), { level: 9 })
}

// npm sets this date too: some programs refuse files from before 1980.
const modified = Date.UTC(1985, 9, 26, 8, 15) / 1000

// An entry of the ustar format: a header of 512 bytes, then the content, filled up to 512 bytes.
function tarEntry(name, content) {
  if (Buffer.byteLength(name) > 100) throw new Error(`The name is too long for the tarball: ${name}`)
  const header = Buffer.alloc(512)
  const mode = name.startsWith('package/bin/') ? 0o755 : 0o644
  header.write(name, 0)
  header.write(octal(mode, 8), 100)
  header.write(octal(0, 8), 108) // owner
  header.write(octal(0, 8), 116) // group
  header.write(octal(content.length, 12), 124)
  header.write(octal(modified, 12), 136)
  header.write(' '.repeat(8), 148) // the checksum counts as spaces
  header.write('0', 156) // a file
  header.write('ustar\x0000', 257)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return [header, content, Buffer.alloc((512 - (content.length % 512)) % 512)]
}

const octal = (number, length) => `${number.toString(8).padStart(length - 1, '0')}\0`

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildMerchantPackage()
