export type Mail = { subject: string; text: string; html: string }

// The content of a mail. It is rendered as plain text and as HTML.
export type MailContent = {
  lang: string
  dir: string
  subject: string
  banner: string // in test mode
  tone: 'good' | 'bad' | 'quiet'
  title: string
  amount?: string
  paragraphs: string[]
  facts: MailFact[]
  list?: string[]
  button: string
  link: string
  foot: string[]
}

export type MailFact = [name: string, value: string]

export const renderMail = (content: MailContent): Mail => ({
  subject: content.subject,
  text: mailText(content),
  html: mailHtml(content),
})

function mailText({ facts, list = [], button, link, foot, ...content }: MailContent): string {
  const width = Math.max(...facts.map(([name]) => name.length)) + 2
  return [
    content.banner,
    [content.title, content.amount].filter(Boolean).join('\n'),
    content.paragraphs.join('\n'),
    facts.map(([name, value]) => `${name.padEnd(width)}${value}`).join('\n'),
    list.map(line => `- ${line}`).join('\n'),
    `${button}\n${link}`,
    `-- \n${foot.join('\n')}\n`,
  ]
    .filter(Boolean)
    .join('\n\n')
}

// Mail readers support little more than tables and inline styles. Nothing is loaded: no pictures, no fonts, no tracking.
// The colours are those of the pages, also in dark mode.
const darkStyle = `
  @media (prefers-color-scheme: dark) {
    .page { background: #0e1412 !important; color: #e9efeb !important }
    .card { background: #161e1a !important; border-color: #2b3631 !important }
    .line { border-color: #2b3631 !important }
    .muted { color: #9fada5 !important }
    .good { color: #5fd0a5 !important }
    .bad { color: #ff9c93 !important }
    .quiet { color: #e9efeb !important }
    .banner { background: #33280d !important; color: #f0c667 !important }
    .button { background: #5fd0a5 !important; color: #06231a !important }
  }`

const font = "font-family:system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"
const tones = { good: '#0b6b4f', bad: '#b3261e', quiet: '#15201b' }
const table = 'role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"'
const hidden = 'display:none;max-height:0;max-width:0;overflow:hidden;opacity:0'
const button =
  'display:block;padding:13px 20px;border-radius:12px;background:#0b6b4f;color:#ffffff;font-weight:600;' +
  'text-align:center;text-decoration:none'

// The hidden text is what a mailbox shows beside the subject.
function mailHtml(content: MailContent): string {
  return `<!doctype html>
<html lang="${escape(content.lang)}" dir="${escape(content.dir)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${escape(content.subject)}</title>
<style>${darkStyle}
</style>
</head>
<body class="page" style="margin:0;padding:0;background:#f4f5f1;color:#15201b;font-size:16px;line-height:1.5;${font}">
<div style="${hidden}">${escape(content.paragraphs.join(' '))}</div>
<table ${table} class="page" style="background:#f4f5f1;color:#15201b">
<tr><td align="center" style="padding:24px 12px;font-size:16px;line-height:1.5;${font}">
<table ${table} class="card" style="max-width:560px;background:#ffffff;border:1px solid #d9ddd5;border-radius:12px;\
border-collapse:separate;text-align:start">
<tr><td style="padding:24px;font-size:16px;line-height:1.5;overflow-wrap:anywhere;${font}">
${cardOf(content)}
</td></tr>
</table>
<div class="muted" style="max-width:560px;padding:16px 12px 0;color:#566159;font-size:14px">
${content.foot.map(line => `<p style="margin:0 0 4px">${escape(line)}</p>`).join('\n')}
</div>
</td></tr>
</table>
</body>
</html>
`
}

const cardOf = ({ banner, tone, title, amount, paragraphs, facts, list, ...content }: MailContent) =>
  [
    banner && paragraph(banner, 'banner', `${box};background:#fff3d6;color:#7a5200;font-weight:600`),
    `<h1 class="${tone}" style="margin:0 0 12px;font-size:22px;line-height:1.25;color:${tones[tone]}">${escape(title)}</h1>`,
    amount && paragraph(amount, '', 'margin:0 0 12px;font-size:34px;line-height:1.2;font-weight:700'),
    ...paragraphs.map(text => paragraph(text, '', 'margin:0 0 12px')),
    `<table width="100%" cellpadding="0" cellspacing="0" border="0" style="margin:8px 0 20px">`,
    ...facts.map(row),
    '</table>',
    list && `<ul style="margin:0 0 20px;padding:0 0 0 20px">${list.map(item).join('')}</ul>`,
    `<a class="button" href="${escape(content.link)}" target="_blank" rel="noopener" style="${button}">${escape(content.button)}</a>`,
  ]
    .filter(Boolean)
    .join('\n')

const box = 'margin:0 0 16px;padding:8px 16px;border-radius:12px'
const paragraph = (text: string, of: string, style: string) =>
  `<p${of && ` class="${of}"`} style="${style}">${escape(text)}</p>`

const item = (text: string) => `<li style="margin:0 0 8px">${escape(text)}</li>`

const cell = 'padding:8px 0;border-top:1px solid #d9ddd5;vertical-align:top;font-size:15px;line-height:1.4'
const row = ([name, value]: MailFact) => `<tr>
<th scope="row" align="left" class="line muted" style="${cell};padding-inline-end:16px;color:#566159;font-weight:400;\
white-space:nowrap;text-align:start">${escape(name)}</th>
<td align="right" class="line" style="${cell};text-align:end"><bdi>${escape(value)}</bdi></td>
</tr>`

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escape = (text: string) => text.replace(/[&<>"']/g, one => entities[one] ?? '')
