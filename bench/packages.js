// The packages of the rivals: only the bench needs them, so `npm ci` of Tollgate itself leaves them out. They are
// installed by the first run that has a section with rivals.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(new URL('.', import.meta.url))

export function bringRivals() {
  if (areRivalsInstalled()) return
  console.error('Installing the packages of the rivals: npm ci in bench/.')
  execFileSync('npm', ['ci'], { cwd: here, stdio: ['ignore', 'ignore', 'inherit'] })
}

export const areRivalsInstalled = () => versions().every(isInstalled)

const read = file => JSON.parse(readFileSync(`${here}${file}`, 'utf8'))
const versions = () => Object.entries(read('package.json').dependencies)

// In the version that is asked for: an older one would be measured without anybody knowing.
function isInstalled([name, version]) {
  const file = `node_modules/${name}/package.json`
  return existsSync(`${here}${file}`) && read(file).version === version
}
