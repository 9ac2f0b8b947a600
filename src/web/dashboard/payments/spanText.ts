import type { Lang } from '../../../core/languages/languages.ts'
import { fill } from '../../../core/text.ts'
import { paymentTexts } from './paymentTexts.ts'

// 22 s, 1 min 36 s, 2 h 5 min.
export function spanText(lang: Lang, ms: number): string {
  const { seconds, minutes, hours } = paymentTexts[lang]
  const s = Math.max(0, Math.round(ms / 1000))
  if (s < 60) return fill(seconds, { s })
  if (s < 3600) return fill(minutes, { m: Math.floor(s / 60), s: s % 60 })
  return fill(hours, { h: Math.floor(s / 3600), m: Math.floor((s % 3600) / 60) })
}
