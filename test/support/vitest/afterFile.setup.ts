import fc from 'fast-check'
import type { EvaluatedModules } from 'vite/module-runner'

// Runs before each test file. Files share a process. The modules of `src/` stay loaded, because they have no state but
// caches. Helpers have state, so each file loads those anew and none depends on what another file left in them.
// `vi.resetModules()` would reset both, which took a fifth of the CPU time of `npm test`.
const worker: { evaluatedModules: EvaluatedModules } | undefined = Reflect.get(
  globalThis,
  '__vitest_worker__',
)
const loaded = worker?.evaluatedModules
for (const node of loaded?.idToModuleMap.values() ?? [])
  if (node.id.startsWith(new URL('../../', import.meta.url).pathname)) loaded?.invalidateModule(node)
const { testSeed } = await import('../random.ts')
fc.configureGlobal({ seed: testSeed })
const { tidyUpAfterFile } = await import('./afterFile.ts')
tidyUpAfterFile()
