// What a mail says, whichever way it is shown.
export type Sheet = {
  lang: string
  dir: string
  subject: string
  banner: string // of test mode
  tone: 'good' | 'bad' | 'quiet'
  title: string
  amount?: string
  words: string[]
  facts: MailFact[]
  list?: string[] // one matter a line
  button: string
  link: string
  foot: string[]
}

export type MailFact = [name: string, value: string]

// For who reads mails as plain text.
export function mailText({
  banner,
  title,
  amount,
  words,
  facts,
  list = [],
  button,
  link,
  foot,
}: Sheet): string {
  const width = Math.max(...facts.map(([name]) => name.length)) + 2
  const lines = facts.map(([name, value]) => `${name.padEnd(width)}${value}`)
  const listed = list.map(line => `- ${line}`)
  return [
    banner,
    [title, amount].filter(Boolean).join('\n'),
    words.join('\n'),
    lines.join('\n'),
    listed.join('\n'),
    `${button}\n${link}`,
    `-- \n${foot.join('\n')}\n`,
  ]
    .filter(Boolean)
    .join('\n\n')
}
