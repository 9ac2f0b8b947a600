import type { DashboardClient } from './signedIn.ts'

// A form as a browser submits it: its address, the fields that its page has filled, and what the user types.
export type OpenForm = { action: string; cookie: string; fields: Record<string, string> }
export type FormPlace = {
  user?: Pick<DashboardClient, 'cookie'> // none: a page without a session
  page: string
  action: string
  of?: Record<string, string> // fields that tell it from other forms with this action
  typed?: Record<string, string>
  submitTo?: string // another address than that of the form
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#34': '"', '#39': "'" }
const plain = (text: string) =>
  text.replace(/&(amp|lt|gt|quot|#3[49]);/g, (_, name: string) => entities[name] ?? '')
const attribute = (tag: string, name: string) => {
  const found = new RegExp(`\\s${name}(?:="([^"]*)")?(?=[\\s/>])`).exec(tag)
  return found ? plain(found[1] ?? '') : undefined
}

function fieldsOf(form: string): Record<string, string> {
  const fields: Record<string, string> = {}
  for (const [tag] of form.matchAll(/<input\s[^>]*>/g)) {
    const isChoice = /\stype="(radio|checkbox)"/.test(tag)
    const name = attribute(tag, 'name')
    if (name && (!isChoice || attribute(tag, 'checked') !== undefined))
      fields[name] = attribute(tag, 'value') ?? ''
  }
  for (const [, tag = '', inside = ''] of form.matchAll(
    /(<(?:select|textarea)\s[^>]*>)([^]*?)<\/(?:select|textarea)>/g,
  )) {
    const options = inside.match(/<option[^>]*>/g)
    const chosen = options?.find(option => attribute(option, 'selected') !== undefined) ?? options?.[0]
    fields[attribute(tag, 'name') ?? ''] = chosen ? (attribute(chosen, 'value') ?? '') : plain(inside)
  }
  return fields
}

export async function openForm(url: string, place: FormPlace): Promise<OpenForm> {
  const { user, page, action, of = {}, typed, submitTo = action } = place
  const answer = await fetch(url + page, { headers: { cookie: user?.cookie ?? '', accept: 'text/html' } })
  const forms = (await answer.text()).match(/<form[\s\S]*?<\/form>/g) ?? []
  const fields = forms
    .filter(form => attribute(/<form[^>]*>/.exec(form)?.[0] ?? '', 'action') === action)
    .map(fieldsOf)
    .find(one => Object.entries(of).every(([name, value]) => one[name] === value))
  if (!fields) throw new Error(`${page} has no form for ${action}: ${answer.status}`)
  const cookie = user?.cookie ?? (answer.headers.getSetCookie()[0] ?? '').split(';')[0] ?? ''
  return { action: submitTo, cookie, fields: { ...fields, ...typed } }
}

// Undefined if the gateway died.
export const submitForm = (
  url: string,
  { action, cookie, fields }: OpenForm,
): Promise<Response | undefined> =>
  fetch(url + action, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie, accept: 'text/html', origin: url },
    body: new URLSearchParams(fields),
  }).catch(() => undefined)
