import type { FieldFaults, NewMerchant } from '../../../actions/merchants/onboardGuided.ts'
import { FormToken } from '../../../core/markup/page.tsx'
import { settingFaultIn } from '../../../core/merchant/settingFaultTexts.ts'
import { defaultCurrency } from '../../../core/money.ts'
import { OperatorPlacePage } from '../frame/frame.tsx'
import { operatorBase, type Visit } from '../route.ts'
import { merchantsTexts } from './merchantsTexts.ts'

type NewMerchantProps = { visit: Visit; form: NewMerchant; faults: FieldFaults }

export const NewMerchantPage = ({ visit, form, faults: found }: NewMerchantProps) => {
  const faults = Object.fromEntries(
    Object.entries(found).map(([name, fault]) => [name, fault && settingFaultIn(fault, visit.lang)]),
  )
  const { new: texts, all } = merchantsTexts[visit.lang]
  const { settings } = form
  return (
    <OperatorPlacePage visit={visit} title={texts.title} place="merchants">
      <p class="crumb">
        <a href={`${operatorBase}/merchants`}>{all}</a>
      </p>
      <form method="post" action={`${operatorBase}/merchants/new`} class="stack guided">
        <h1>{texts.title}</h1>
        {Object.keys(faults).length > 0 && (
          <p class="notice bad" role="alert">
            {texts.faults}
          </p>
        )}
        <section class="card roomy stack">
          <h2>1. {texts.steps}</h2>
          <TypedField
            name="name"
            label={texts.name}
            hint={texts.nameHint}
            value={form.name}
            fault={faults.name}
            isRequired
          />
          <TypedField
            name="contact_email"
            type="email"
            label={texts.contact_email}
            hint={texts.contactHint}
            value={settings.contact_email}
            fault={faults.contact_email}
          />
        </section>
        <section class="card roomy stack">
          <h2>2. {texts.money}</h2>
          <TypedField
            name="currencies"
            label={texts.currencies}
            hint={texts.currenciesHint}
            value={settings.currencies ?? defaultCurrency}
            fault={faults.currencies}
          />
        </section>
        <section class="card roomy stack">
          <h2>3. {texts.shop}</h2>
          <TypedField
            name="allowed_origins"
            label={texts.allowed_origins}
            hint={texts.originsHint}
            value={settings.allowed_origins}
            fault={faults.allowed_origins}
          />
          <TypedField
            name="ipn_url"
            label={texts.ipn_url}
            hint={texts.ipnHint}
            value={settings.ipn_url}
            fault={faults.ipn_url}
          />
        </section>
        <section class="card roomy stack">
          <h2>4. {texts.owner}</h2>
          <TypedField
            name="owner_email"
            type="email"
            label={texts.owner_email}
            hint={texts.ownerHint}
            value={form.owner_email}
            fault={faults.owner_email}
          />
        </section>
        <p class="muted">{texts.end}</p>
        <input type="hidden" name="merchant_id" value={form.merchant_id} />
        <FormToken token={visit.formToken} />
        <button type="submit" class="btn">
          {texts.make}
        </button>
      </form>
    </OperatorPlacePage>
  )
}

type TypedFieldProps = {
  name: string
  label: string
  hint?: string
  type?: string
  value?: string
  fault?: string
  isRequired?: boolean
  isSecret?: boolean
}

// A field with its fault beside it, and what was typed.
export const TypedField = (props: TypedFieldProps) => {
  const { name, label, hint, type = 'text', value, fault, isRequired, isSecret } = props
  const described = [hint && `${name}-hint`, fault && `${name}-fault`].filter(Boolean).join(' ')
  return (
    <div class="field">
      <label for={name}>{label}</label>
      {hint && (
        <p class="hint" id={`${name}-hint`}>
          {hint}
        </p>
      )}
      <input
        class="input"
        id={name}
        name={name}
        type={type}
        value={value}
        required={isRequired || undefined}
        maxlength={4000}
        autocomplete={isSecret ? 'new-password' : 'off'}
        aria-describedby={described || undefined}
        aria-invalid={fault ? 'true' : undefined}
      />
      {fault && (
        <p class="fault" id={`${name}-fault`}>
          {fault}
        </p>
      )}
    </div>
  )
}
