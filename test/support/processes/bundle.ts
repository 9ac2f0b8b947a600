import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'

// Bundles a TypeScript program into one file that Node 20 can run, so that its processes start fast.
export const bundle = (source: URL, program: string) =>
  build({
    input: fileURLToPath(source),
    output: { file: program, format: 'cjs', codeSplitting: false },
    platform: 'node',
    transform: { target: 'node20' },
    external: ['pg-native'],
    logLevel: 'silent',
  })
