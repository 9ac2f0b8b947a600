import type { MailFact, Sheet } from './mailText.ts'

// Mail readers know tables and inline styles, and little else. Nothing is loaded: no pictures, no fonts, nothing that
// tells that the mail was opened. The colours are those of the pages; a reader that knows of the night has them too.
const night = `
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

// The preheader is what a mailbox shows beside the subject.
export function mailHtml(sheet: Sheet): string {
  return `<!doctype html>
<html lang="${safe(sheet.lang)}" dir="${safe(sheet.dir)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${safe(sheet.subject)}</title>
<style>${night}
</style>
</head>
<body class="page" style="margin:0;padding:0;background:#f4f5f1;color:#15201b;font-size:16px;line-height:1.5;${font}">
<div style="${hidden}">${safe(sheet.words.join(' '))}</div>
<table ${table} class="page" style="background:#f4f5f1;color:#15201b">
<tr><td align="center" style="padding:24px 12px;font-size:16px;line-height:1.5;${font}">
<table ${table} class="card" style="max-width:560px;background:#ffffff;border:1px solid #d9ddd5;border-radius:12px;\
border-collapse:separate;text-align:start">
<tr><td style="padding:24px;font-size:16px;line-height:1.5;overflow-wrap:anywhere;${font}">
${inside(sheet)}
</td></tr>
</table>
<div class="muted" style="max-width:560px;padding:16px 12px 0;color:#566159;font-size:14px">
${sheet.foot.map(line => `<p style="margin:0 0 4px">${safe(line)}</p>`).join('\n')}
</div>
</td></tr>
</table>
</body>
</html>
`
}

const inside = ({ banner, tone, title, amount, words, facts, list, ...sheet }: Sheet) =>
  [
    banner && paragraph(banner, 'banner', `${box};background:#fff3d6;color:#7a5200;font-weight:600`),
    `<h1 class="${tone}" style="margin:0 0 12px;font-size:22px;line-height:1.25;color:${tones[tone]}">${safe(title)}</h1>`,
    amount && paragraph(amount, '', 'margin:0 0 12px;font-size:34px;line-height:1.2;font-weight:700'),
    ...words.map(text => paragraph(text, '', 'margin:0 0 12px')),
    `<table width="100%" cellpadding="0" cellspacing="0" border="0" style="margin:8px 0 20px">`,
    ...facts.map(row),
    '</table>',
    list && `<ul style="margin:0 0 20px;padding:0 0 0 20px">${list.map(item).join('')}</ul>`,
    `<a class="button" href="${safe(sheet.link)}" target="_blank" rel="noopener" style="${button}">${safe(sheet.button)}</a>`,
  ]
    .filter(Boolean)
    .join('\n')

const box = 'margin:0 0 16px;padding:8px 16px;border-radius:12px'
const paragraph = (text: string, of: string, style: string) =>
  `<p${of && ` class="${of}"`} style="${style}">${safe(text)}</p>`

const item = (text: string) => `<li style="margin:0 0 8px">${safe(text)}</li>`

const cell = 'padding:8px 0;border-top:1px solid #d9ddd5;vertical-align:top;font-size:15px;line-height:1.4'
const row = ([name, value]: MailFact) => `<tr>
<th scope="row" align="left" class="line muted" style="${cell};padding-inline-end:16px;color:#566159;font-weight:400;\
white-space:nowrap;text-align:start">${safe(name)}</th>
<td align="right" class="line" style="${cell};text-align:end"><bdi>${safe(value)}</bdi></td>
</tr>`

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const safe = (text: string) => text.replace(/[&<>"']/g, one => entities[one] ?? '')
