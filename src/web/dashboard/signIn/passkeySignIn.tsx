import { FormToken } from '../../../core/markup/page.tsx'
import type { PublicVisit } from '../route.ts'
import { signInTexts } from './signInTexts.ts'

export const PasskeyScript = () => <script src="/dashboard/public/passkey.js" defer></script>

type SignInProps = { visit: PublicVisit; next: string }

// Hidden until the script finds that the browser has passkeys.
export const PasskeySignIn = ({ visit, next }: SignInProps) => {
  const texts = signInTexts[visit.lang]
  return (
    <form
      method="post"
      action="/dashboard/passkey"
      class="stack"
      data-passkey="get"
      data-options="/dashboard/passkey-options"
      hidden
    >
      <p class="fault" role="alert" hidden>
        {texts.passkeyFailed}
      </p>
      <input type="hidden" name="credential" value="" />
      <input type="hidden" name="next" value={next} />
      <FormToken token={visit.formToken} />
      <button type="submit" class="btn plain wide">
        {texts.passkey}
      </button>
    </form>
  )
}
