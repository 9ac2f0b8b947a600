import type { Library } from '../library.ts'
import type { Sample } from './samples.ts'

const sdks = [
  { file: 'sdk/node/README.md', language: 'js', title: 'Node', verb: 'notificationListener(' },
  { file: 'sdk/php/README.md', language: 'php', title: 'PHP', verb: 'handleNotification(' },
  { file: 'sdk/python/README.md', language: 'python', title: 'Python', verb: 'handle_notification(' },
] as const

// An endpoint for notifications in each language: the first one in the README of its SDK, where a test runs it.
export const handlersOf = ({ pages }: Pick<Library, 'pages'>): Sample[] =>
  sdks.flatMap(({ file, language, title, verb }) => {
    const blocks = pages.find(page => page.file === file)?.blocks ?? []
    const found = blocks.find(
      block => block.kind === 'code' && block.language === language && block.text.includes(verb),
    )
    return found?.kind === 'code' ? [{ language, title, code: found.text }] : []
  })
