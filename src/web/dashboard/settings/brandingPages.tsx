import type { SettingsView } from '../../../actions/merchants/saveSettingsForm.ts'
import { languages } from '../../../core/languages/languages.ts'
import { accentFault } from '../../../core/merchant/accent.ts'
import { type Branding, brandingOf } from '../../../core/merchant/branding.ts'
import {
  changeSettings,
  readMerchantSettings,
  type SettingName,
  type SettingTexts,
} from '../../../core/merchant/settings.ts'
import { settingsOfGroup } from '../../../core/merchant/settingTable.ts'
import { FormToken } from '../../../core/markup/page.tsx'
import { localizedMoney } from '../../../core/money.ts'
import { fill } from '../../../core/text.ts'
import { CustomerPage } from '../../pages/customerPage.tsx'
import type { MerchantVisit } from '../route.ts'
import { settingsTextsOf } from './settingsPages.tsx'

type Values = Readonly<Partial<Record<SettingName, string>>>
const names = settingsOfGroup('branding')

// The preview beside the form: a frame with the checkout, and what keeps a value from being shown.
export const PreviewCard = ({ visit, values }: { visit: MerchantVisit; values: Values }) => {
  const texts = settingsTextsOf(visit)
  const query = new URLSearchParams(Object.fromEntries(names.map(name => [name, values[name] ?? ''])))
  const accent = values.accent?.trim()
  const fault = accent ? accentFault(accent) : undefined
  return (
    <section class="card stack preview">
      <h2>{texts.preview}</h2>
      <p class="small muted">{texts.previewText}</p>
      {fault && (
        <p class="fault" role="alert">
          {fill(texts.wrongColour, { fault })}
        </p>
      )}
      <iframe
        src={`${visit.base}/settings/branding/preview?${query.toString()}`}
        title={texts.previewTitle}
        data-preview={`${visit.base}/settings/branding/preview`}
      ></iframe>
    </section>
  )
}

// The values of a form as branding. A value that would be refused is left out.
export function previewedBranding(merchant_id: string, view: SettingsView, values: Values): Branding {
  const stored: SettingTexts = Object.fromEntries(
    Object.entries(view.settings ?? {}).filter(([name]) => !names.includes(name as SettingName)),
  )
  const shown = names.reduce((texts: SettingTexts, name) => {
    const changed = changeSettings(texts, [`${name}=${values[name]?.trim() ?? ''}`])
    return changed.faults.length > 0 ? texts : changed.texts
  }, stored)
  return brandingOf(merchant_id, readMerchantSettings(shown), view.logo ?? null)
}

type CheckoutProps = { visit: MerchantVisit; branding: Branding }

// The checkout of a sample payment. It has no script, and its form leads nowhere.
export const CheckoutPreview = ({ visit, branding }: CheckoutProps) => {
  const t = languages[visit.lang]
  const { sample } = settingsTextsOf(visit)
  const amount = localizedMoney(2500n, 'GHS', t.locale)
  const pay = fill(t.choose.pay, { amount })
  return (
    <CustomerPage
      title={fill(t.choose.title, { amount })}
      lang={visit.lang}
      test={visit.mode === 'test'}
      shop={visit.merchant.name}
      branding={branding}
      bill={
        <div class="bill">
          <div class="due">
            <h1 class="amount">{amount}</h1>
            <p class="muted">
              {t.frame.invoice} {sample.invoice}
            </p>
          </div>
          <p class="what">{sample.what}</p>
        </div>
      }
    >
      <fieldset>
        <legend>{t.choose.how}</legend>
        <div class="methods">
          {['MTN MoMo', 'Telecel Cash', t.names.card].map((label, at) => (
            <div class="method">
              <input type="radio" name="sample" id={`sample-${at}`} checked={at === 0} />
              <label for={`sample-${at}`}>
                <span>{label}</span>
              </label>
            </div>
          ))}
        </div>
      </fieldset>
      <p>
        <span class="btn wide big">{pay}</span>
      </p>
    </CustomerPage>
  )
}

type LogoProps = { visit: MerchantVisit; view: SettingsView; fault?: string }

export const LogoCard = ({ visit, view: { logo }, fault }: LogoProps) => {
  const texts = settingsTextsOf(visit)
  const action = `${visit.base}/settings/logo`
  return (
    <section class="card roomy stack" id="logo">
      <h2>{texts.logo}</h2>
      <form method="post" action={action} enctype="multipart/form-data" class="stack">
        <div class="field">
          <label for="logo-file">{texts.logoFile}</label>
          <p class="hint" id="logo-hint">
            {texts.logoText}
          </p>
          {fault && (
            <p class="fault" id="logo-fault" role="alert">
              {fault}
            </p>
          )}
          <input
            class="input"
            type="file"
            id="logo-file"
            name="logo"
            accept="image/png,image/jpeg"
            aria-describedby="logo-hint"
          />
        </div>
        <input type="hidden" name="seen" value={logo?.digest ?? ''} />
        <FormToken token={visit.formToken} />
        <button type="submit" class="btn small">
          {texts.logoSet}
        </button>
      </form>
      {logo && (
        <form method="post" action={`${action}/remove`}>
          <input type="hidden" name="seen" value={logo.digest} />
          <FormToken token={visit.formToken} />
          <button type="submit" class="btn danger small">
            {texts.logoRemove}
          </button>
        </form>
      )}
    </section>
  )
}
