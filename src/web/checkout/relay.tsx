import { chosenLang, type Lang, languages } from '../../core/languages/languages.ts'
import { raw } from '../../core/markup/jsx-runtime.ts'
import type { Ctx } from '../http/context.ts'
import { type CheckoutOptions, withToken } from './open.tsx'
import { show } from './show.ts'

// Every browser says what it would like to get. Who says nothing is a program, such as an old shop's server that fetches
// our page and prints it as its own, where none of our links would work: what it prints leads the browser to us.
export const isRelay = (c: Ctx) => !c.req.header('accept')

export const relayRoute = (options: CheckoutOptions) =>
  withToken(options, (c, token) => {
    const asked = chosenLang(c.req.query('lang'))
    const address = `${options.runtime.baseUrl()}/checkout/${token}${asked ? `?lang=${asked}` : ''}`
    return show(c, <RelayPage address={address} lang={asked ?? 'en'} />)
  })

// Out of any frame, too.
const RelayPage = ({ address, lang }: { address: string; lang: Lang }) => (
  <>
    {raw('<!doctype html>')}
    <html lang={lang}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <meta http-equiv="refresh" content={`0; url=${address}`} />
        <title>{languages[lang].trouble.open}</title>
      </head>
      <body>
        <p>
          <a href={address} target="_top">
            {languages[lang].trouble.open}
          </a>
        </p>
      </body>
    </html>
  </>
)
