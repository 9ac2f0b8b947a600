import { formTokenIn } from './signedIn.ts'

export type FormBrowser = ReturnType<typeof formBrowser>

// A browser without scripts: it keeps its cookies, and posts forms with the token of their page.
export function formBrowser(url: string) {
  const cookies = new Map<string, string>()
  const keep = (answer: Response) => {
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (/max-age=0/i.test(line)) cookies.delete(name)
      else cookies.set(name, value)
    }
    return answer
  }
  const headers = (more: Record<string, string> = {}) => ({
    accept: 'text/html',
    cookie: [...cookies].map(pair => pair.join('=')).join('; '),
    ...more,
  })
  const get = async (path: string) =>
    keep(await fetch(`${url}${path}`, { headers: headers(), redirect: 'manual' }))
  const post = async (path: string, fields: Record<string, string>, more: Record<string, string> = {}) =>
    keep(
      await fetch(`${url}${path}`, {
        method: 'POST',
        headers: headers({ origin: url, ...more }),
        body: new URLSearchParams(fields),
        redirect: 'manual',
      }),
    )
  const submit = async (page: string, action: string, fields: Record<string, string> = {}) =>
    post(action, { ...fields, form_token: formTokenIn(await (await get(page)).text()) })
  return {
    cookies,
    get,
    post,
    submit,
    signIn: (email: string, password: string, next = '/dashboard') =>
      submit('/dashboard/sign-in', '/dashboard/sign-in', { email, password, next }),
    code: (code: string) =>
      submit('/dashboard/second-factor', '/dashboard/second-factor', { code, next: '/dashboard' }),
  }
}
