import { type Lang, chosenLang } from '../languages/languages.ts'
import { type Mail, renderMail } from '../message/texts/mailLayout.ts'
import { cleanText, fill, stripBidiControls } from '../text.ts'
import type { OwnerAlert } from './ownerAlert.ts'
import { invitationDays, resetMinutes } from './userLink.ts'
import { type PersonNotice, type UserMailTexts, userMailTexts } from './userMailTexts.ts'

export type UserMailKind = 'invitation' | 'reset' | 'no_account' | 'alert' | 'notice'

type Facts = {
  kind: string
  lang: string
  details: Readonly<Record<string, string>>
  link?: string // of an invitation and a reset
  baseUrl: string
}

const maxName = 60

// The names of people and merchants are theirs to choose, so they begin no address that a mail reader would make a link.
const mailName = (text = '') =>
  cleanText(stripBidiControls(text).replace(/[a-z]+:\/\/|www\./gi, ''), maxName).replace(
    /\.(?=\S)/g,
    '\u2024', // a one dot leader: the name reads the same, and is no address
  )

// The mail to a user.
export function userMail({ kind, lang, details, link, baseUrl }: Facts): Mail {
  const chosen: Lang = chosenLang(lang) ?? 'en'
  const texts = userMailTexts[chosen]
  const values = {
    merchant: mailName(details.merchant),
    by: mailName(details.by),
    days: invitationDays,
    minutes: resetMinutes,
  }
  const { title, text, button } = partsOf(texts, kind, details)
  const line = (template: string) => fill(template, values)
  return renderMail({
    lang: chosen,
    dir: 'ltr',
    subject: `Tollgate: ${line(title)}`,
    banner: '',
    tone: 'quiet',
    title: line(title),
    paragraphs: text.map(line),
    facts: factsOf(texts, details, values.by),
    button,
    link: link ?? `${baseUrl}/dashboard/account`,
    foot: [texts.foot],
  })
}

type Parts = { title: string; text: string[]; button: string }

function partsOf(texts: UserMailTexts, kind: string, { change, what, merchant }: Facts['details']): Parts {
  switch (kind) {
    case 'invitation':
      return merchant ? texts.invitation : texts.operatorInvitation
    case 'reset':
      return texts.reset
    case 'no_account':
      return texts.noAccount
    case 'alert':
      return { ...texts.alert, text: [texts.alerts[change as OwnerAlert] ?? texts.alerts.settings] }
    default: {
      const said = texts.notices[what as PersonNotice] ?? texts.notices.role
      return { title: said, text: [texts.notYou], button: texts.toAccount }
    }
  }
}

function factsOf(texts: UserMailTexts, { at }: Facts['details'], by: string) {
  const facts: [string, string][] = []
  if (by) facts.push([texts.by, by])
  if (at) facts.push([texts.at, `${at.slice(0, 16).replace('T', ' ')} UTC`])
  return facts
}
