import { storedText } from '../../../core/timeline/storedSentences.ts'
import type { AccountFaults } from '../../../actions/providers/accountPages.ts'
import type { AccountCheck } from '../../../actions/providers/checkAccount.ts'
import { settingFaultIn } from '../../../core/merchant/settingFaultTexts.ts'
import { FormToken } from '../../../core/markup/page.tsx'
import type { Mode } from '../../../core/mode.ts'
import type { ProviderSetting } from '../../../core/provider/provider.ts'
import { fill } from '../../../core/text.ts'
import { OperatorPlacePage } from '../frame/frame.tsx'
import { TypedField } from '../merchants/newMerchantPage.tsx'
import { operatorBase, type Visit } from '../route.ts'
import { accountsTexts } from './accountsTexts.ts'

const accountsPath = `${operatorBase}/accounts`

export const ChooseProviderPage = ({ visit, providers }: { visit: Visit; providers: readonly string[] }) => {
  const texts = accountsTexts[visit.lang]
  return (
    <OperatorPlacePage visit={visit} title={texts.addTitle} place="accounts">
      <p class="crumb">
        <a href={accountsPath}>{texts.all}</a>
      </p>
      <section class="card roomy narrow">
        <form method="get" action={`${accountsPath}/new`} class="stack">
          <h1>{texts.addTitle}</h1>
          <div class="field">
            <label for="provider">{texts.choose}</label>
            <select class="input" id="provider" name="provider">
              {providers.map(name => (
                <option value={name}>{name}</option>
              ))}
            </select>
          </div>
          <div class="field">
            <label for="mode">{texts.mode}</label>
            <select class="input" id="mode" name="mode">
              <option value="test">{texts.test}</option>
              <option value="live">{texts.live}</option>
            </select>
          </div>
          <button type="submit" class="btn">
            {texts.next}
          </button>
        </form>
      </section>
    </OperatorPlacePage>
  )
}

export type AccountFormValues = {
  account: string
  provider: string
  mode: Mode
  label: string
  merchant: string // its id; empty: every merchant
  typed: Readonly<Record<string, string>> // without secrets
  version?: string // of a stored account
}

type FormProps = {
  visit: Visit
  fields: readonly ProviderSetting[]
  values: AccountFormValues
  faults?: AccountFaults
  check?: AccountCheck
  attempts?: number
}

// The form of a new account, and of the settings of a stored one.
export const AccountFormPage = (props: FormProps) => {
  const { visit, values, faults } = props
  const texts = accountsTexts[visit.lang]
  const isStored = values.version !== undefined
  const title = isStored ? values.account : `${texts.addTitle}: ${values.provider}`
  const ownPath = isStored ? `${accountsPath}/${encodeURIComponent(values.account)}` : accountsPath
  return (
    <OperatorPlacePage visit={visit} title={title} place="accounts">
      <p class="crumb">
        <a href={ownPath}>{isStored ? values.account : texts.all}</a>
      </p>
      <section class="card roomy">
        <form
          method="post"
          action={isStored ? `${ownPath}/settings` : `${accountsPath}/new`}
          class="stack"
          autocomplete="off"
        >
          <h1>
            {title} <span class="pill">{texts[values.mode]}</span>
          </h1>
          <FaultNotice {...props} />
          <TypedField name="label" label={texts.label} hint={texts.labelHint} value={values.label} />
          {!isStored && (
            <TypedField
              name="merchant"
              label={texts.merchant}
              hint={texts.merchantHint}
              value={values.merchant}
              fault={faults?.fields.merchant && settingFaultIn(faults.fields.merchant, visit.lang)}
            />
          )}
          <SettingInputs {...props} />
          {isStored && <BusinessChoice visit={visit} isNeeded={props.attempts !== undefined} />}
          <label class="row small">
            <input type="checkbox" name="unchecked" value="on" /> {texts.skip}
          </label>
          <input type="hidden" name="account" value={values.account} />
          <input type="hidden" name="provider" value={values.provider} />
          <input type="hidden" name="mode" value={values.mode} />
          {isStored && <input type="hidden" name="version" value={values.version} />}
          <FormToken token={visit.formToken} />
          <button type="submit" class="btn">
            {isStored ? texts.save : texts.add}
          </button>
        </form>
      </section>
    </OperatorPlacePage>
  )
}

const FaultNotice = ({ visit, faults, check, attempts }: FormProps) => {
  const texts = accountsTexts[visit.lang]
  if (!faults && attempts === undefined) return null
  return (
    <div class="notice bad" role="alert">
      <div>
        <p>{attempts === undefined ? texts.faults : fill(texts.needsBusiness, { attempts })}</p>
        {check && <p>{fill(texts.checks[check.outcome], { words: storedText(check.words, visit.lang) })}</p>}
        {faults?.others.map(fault => (
          <p>{settingFaultIn(fault, visit.lang)}</p>
        ))}
      </div>
    </div>
  )
}

// A secret is never shown again, not even after a fault.
const SettingInputs = ({ visit, fields, values, faults }: FormProps) => {
  const texts = accountsTexts[visit.lang]
  const hintOf = ({ words, french = words, isSecret, usual }: ProviderSetting) => {
    const more =
      isSecret && values.version !== undefined
        ? texts.stored
        : usual === undefined
          ? texts.needed
          : usual && fill(texts.byDefault, { value: usual })
    return [visit.lang === 'fr' ? french : words, more].filter(Boolean).join(' ')
  }
  return (
    <>
      {fields.map(field => (
        <TypedField
          name={`setting_${field.name}`}
          label={field.name}
          hint={hintOf(field)}
          type={field.isSecret ? 'password' : 'text'}
          isSecret={field.isSecret}
          value={field.isSecret ? undefined : values.typed[field.name]}
          fault={settingFaultIn(faults?.fields[field.name] ?? '', visit.lang) || undefined}
        />
      ))}
    </>
  )
}

const BusinessChoice = ({ visit, isNeeded }: { visit: Visit; isNeeded: boolean }) => {
  const texts = accountsTexts[visit.lang]
  return (
    <fieldset class="stack">
      <legend class={isNeeded ? 'fault' : undefined}>{texts.business}</legend>
      {(['same', 'other'] as const).map(value => (
        <label class="row small">
          <input type="radio" name="business" value={value} /> {texts[value]}
        </label>
      ))}
    </fieldset>
  )
}
