import type { Lang } from '../../../core/languages/languages.ts'

const locales: Record<Lang, string> = { en: 'en-GB', fr: 'fr' }

const written = (value: number, digits: number, lang: Lang) =>
  value.toLocaleString(locales[lang], { maximumFractionDigits: digits, minimumFractionDigits: digits })

// A rate a second: two decimals below 1, one above.
export const figure = (value: number, lang: Lang) =>
  written(value, value === 0 || value >= 10 ? 1 : value < 1 ? 2 : 1, lang)

export const percentText = (rate: number, lang: Lang) => `${written(rate * 100, 1, lang)} %`

export const pointsText = (points: number, lang: Lang) => written(Math.abs(points), 1, lang)

// +0.4 ms
export const offsetText = (ms: number, lang: Lang) =>
  `${ms < 0 ? '−' : '+'}${written(Math.abs(ms), Math.abs(ms) < 10 ? 1 : 0, lang)} ms`

export const countText = (count: number, lang: Lang) => count.toLocaleString(locales[lang])
