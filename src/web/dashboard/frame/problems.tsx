import { NotOriginal, TooBusy } from '../../../core/interface/refusal.ts'
import type { Lang } from '../../../core/languages/languages.ts'
import type { Ctx } from '../../http/context.ts'
import { isRefusal } from '../../http/errors.ts'
import { ProblemPage, sendDashboardPage } from './frame.tsx'
import { frameTexts } from './frameTexts.ts'

const statuses = { notFound: 404, refused: 403, foreignForm: 403 } as const

export const problemPage = (c: Ctx, lang: Lang, problem: keyof typeof statuses) =>
  sendDashboardPage(c, <ProblemPage lang={lang} texts={frameTexts[lang][problem]} />, statuses[problem])

const retry = { 'retry-after': '5' }

export const busyPage = (c: Ctx, lang: Lang, http: number) =>
  sendDashboardPage(c, <ProblemPage lang={lang} texts={frameTexts[lang].busy} />, http, retry)

// The page of a refusal. Any other error is a bug, and thrown again.
export function refusalPage(c: Ctx, lang: Lang, error: unknown) {
  if (!isRefusal(error)) throw error
  if (error.isBodyUnread) c.header('connection', 'close')
  if (error.http === 429 || error instanceof TooBusy) return busyPage(c, lang, error.http)
  const { copy, unavailable, foreignForm } = frameTexts[lang]
  const texts = error instanceof NotOriginal ? copy : error.http === 503 ? unavailable : foreignForm
  return sendDashboardPage(c, <ProblemPage lang={lang} texts={texts} />, error.http, retry)
}
