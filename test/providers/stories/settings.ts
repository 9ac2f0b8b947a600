import { describe, expect, test } from 'vitest'
import { isCurrency } from '../../../src/core/money.ts'
import { environmentSettings } from '../../../src/runtime/providerAccounts.ts'
import { type Stage, tools } from './stage.ts'

export function settingStories({ name, kind, settings, methods: ways }: Stage) {
  const inEnv = (given: object) =>
    Object.fromEntries(Object.entries(given).map(([key, value]) => [`${name}_${key}`.toUpperCase(), value]))

  describe(`${name}: settings`, () => {
    test('each has a name of its own, and words for the operator', () => {
      expect(new Set(kind.settings.map(one => one.name)).size).toBe(kind.settings.length)
      for (const one of kind.settings) {
        expect(one.name).toMatch(/^[a-z][a-z0-9_]{1,30}$/)
        expect(one.words).toMatch(/^\S.*[.]$/)
        if (one.isSecret) expect(one.usual ?? '').toBe('') // an optional secret is empty by default
      }
    })

    test('one that is missing, and has no usual value: no provider', () => {
      expect(environmentSettings(name, kind, inEnv(settings))).toMatchObject(settings)
      for (const { name: missing, usual } of kind.settings) {
        const without = inEnv({ ...settings, [missing]: '' })
        const given = environmentSettings(name, kind, without)
        if (usual === undefined) expect(given).toBeUndefined()
        else expect(given?.[missing]).toBe(usual)
      }
    })

    test('it says its terms', () => {
      const { account, startIsIdempotent, visibleWithinMs, failureMayReverseForMs, timing } = kind.open(
        settings,
        tools,
      )
      expect(account).toMatch(/^[^\p{Cc}]{1,100}$/u)
      expect(typeof startIsIdempotent).toBe('boolean')
      for (const ms of [visibleWithinMs, failureMayReverseForMs, ...Object.values(timing ?? {}).flat()])
        expect(ms).toBeGreaterThanOrEqual(0)
      for (const secret of secretsOf({ kind, settings })) expect(account).not.toContain(secret)
    })

    test('every way has a name of its own, a currency, sane limits, and words for what it asks', () => {
      expect(ways.length).toBeGreaterThan(0)
      expect(new Set(ways.map(method => method.payment_method)).size).toBe(ways.length)
      for (const { payment_method, currencies, badge, limits, lifetimeMs } of ways) {
        expect(payment_method).toMatch(/^[a-z][a-z0-9_]{1,39}$/)
        expect(currencies.length).toBeGreaterThan(0)
        expect(lifetimeMs).toBeGreaterThan(0)
        expect(contrast(badge.background, badge.ink)).toBeGreaterThanOrEqual(4.5)
        for (const [currency, { least = 0n, most = least, step = 1n }] of Object.entries(limits ?? {})) {
          expect(isCurrency(currency)).toBe(true)
          expect(least >= 0n && most >= least && step > 0n).toBe(true)
        }
      }
    })
  })
}

export const secretsOf = ({ kind, settings }: Pick<Stage, 'kind' | 'settings'>) =>
  kind.settings.flatMap(({ name, isSecret }) => (isSecret && settings[name] ? [settings[name]] : []))

function contrast(a: string, b: string) {
  const [light = 0, dark = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x)
  return (light + 0.05) / (dark + 0.05)
}

function luminance(colour: string) {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map(at => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}
