import type { Library } from '../library.ts'

// What docs/errors.md says about each code, in Markdown.
export type ErrorAdvice = { meaning: string; cause: string; cure: string }
export type ErrorGuide = ReadonlyMap<string, ErrorAdvice>

export function errorGuideOf({ pages }: Pick<Library, 'pages'>): ErrorGuide {
  const blocks = pages.find(({ file }) => file === 'docs/errors.md')?.blocks ?? []
  const guide = new Map<string, ErrorAdvice>()
  let current: ErrorAdvice | undefined
  for (const block of blocks) {
    if (block.kind === 'heading') {
      current = block.level === 3 ? { meaning: '', cause: '', cure: '' } : undefined
      if (current) guide.set(block.text, current)
    } else if (current && block.kind === 'paragraph') {
      const [, title, text = ''] = /^\*\*(Cause|Cure)\.\*\* (.*)$/.exec(block.text) ?? []
      if (title === 'Cause') current.cause = text
      else if (title === 'Cure') current.cure = text
      else current.meaning ||= block.text
    }
  }
  return guide
}
