import { expect, test } from 'vitest'
import { readConfig } from '../../src/config.ts'

for (const [env, expected] of [
  [{}, true], // as a newcomer starts it
  [{ HOST: '127.0.0.1' }, true],
  [{ HOST: '127.0.0.2' }, true],
  [{ HOST: 'localhost' }, true],
  [{ HOST: '::1' }, true],
  [{ HOST: '0.0.0.0' }, false],
  [{ HOST: '::' }, false],
  [{ HOST: '10.0.0.5' }, false],
  [{ HOST: 'localhost.example' }, false],
  [{ HOST: '127.0.0.1.example' }, false],
  [{ HOST: '::ffff:127.0.0.1' }, false], // nobody writes it so
  [{ TOLLGATE_BASE_URL: 'https://pay.example' }, false],
  [{ TOLLGATE_BASE_URL: 'http://localhost:8080' }, false], // a tunnel may lead there
  [{ TOLLGATE_TRUST_PROXY: '0' }, true],
  [{ TOLLGATE_TRUST_PROXY: '1' }, false],
  [{ DATABASE_URL: 'postgres://db/tollgate' }, true],
] as const)
  test(`${JSON.stringify(env)}: ${expected ? 'for this machine only' : 'others may reach it'}`, () =>
    expect(readConfig(env).isForThisMachineOnly).toBe(expected))
