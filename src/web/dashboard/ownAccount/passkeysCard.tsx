import { maxPasskeyName, type Passkey } from '../../../core/access/passkey.ts'
import { FormToken } from '../../../core/markup/page.tsx'
import { accountTime, ButtonForm } from './ownAccountPages.tsx'
import { ownAccountTexts } from './ownAccountTexts.ts'
import type { Visit } from '../route.ts'

type PasskeysProps = { visit: Visit; passkeys: readonly Passkey[]; fault?: string }

export const PasskeysCard = ({ visit, passkeys, fault }: PasskeysProps) => {
  const texts = ownAccountTexts[visit.lang]
  return (
    <section class="card stack">
      <h2>{texts.passkeys}</h2>
      <p class="small">{texts.passkeysText}</p>
      {fault && (
        <p class="fault" role="alert">
          {fault}
        </p>
      )}
      {passkeys.length === 0 && <p class="muted">{texts.noPasskeys}</p>}
      {passkeys.map(({ passkey_id, name, created_at, used_at }) => (
        <div class="row">
          <span class="wrap">
            <b>{name}</b>{' '}
            <small class="muted">
              {used_at ? `${texts.seen}: ${accountTime(used_at)}` : accountTime(created_at)}
            </small>
          </span>
          <ButtonForm
            visit={visit}
            action="/dashboard/account/passkey-remove"
            label={texts.removePasskey}
            fields={{ passkey: passkey_id }}
          />
        </div>
      ))}
      <noscript>
        <p class="small muted">{texts.needsScript}</p>
      </noscript>
      <RegisterForm visit={visit} />
    </section>
  )
}

const RegisterForm = ({ visit }: { visit: Visit }) => {
  const texts = ownAccountTexts[visit.lang]
  return (
    <form
      method="post"
      action="/dashboard/account/passkey-add"
      class="stack"
      data-passkey="create"
      data-options="/dashboard/account/passkey-options"
      hidden
    >
      <p class="fault" role="alert" hidden>
        {texts.passkeyFailed}
      </p>
      <div class="field">
        <label for="passkey-name">{texts.passkeyName}</label>
        <input class="input" id="passkey-name" name="name" required maxlength={maxPasskeyName} />
      </div>
      <input type="hidden" name="credential" value="" />
      <FormToken token={visit.formToken} />
      <button type="submit" class="btn plain small">
        {texts.addPasskey}
      </button>
    </form>
  )
}
