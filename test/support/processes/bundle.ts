import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'

// Puts a TypeScript program into one file that Node 20 runs as it is, so that a process of it starts at once.
export const bundle = (source: URL, program: string) =>
  build({
    input: fileURLToPath(source),
    output: { file: program, format: 'cjs', codeSplitting: false },
    platform: 'node',
    transform: { target: 'node20' },
    external: ['pg-native'],
    logLevel: 'silent',
  })
