import type { SettingFault, SettingsView } from '../../../actions/merchants/saveSettingsForm.ts'
import { mayChange, settingText } from '../../../actions/merchants/saveSettingsForm.ts'
import type { IpnPasswords } from '../../../actions/merchants/credentials.ts'
import type { SettingName } from '../../../core/merchant/settings.ts'
import {
  isSensitiveGroup,
  type SettingGroup,
  settingGroups,
  settingsOfGroup,
  settingTable,
} from '../../../core/merchant/settingTable.ts'
import { settingFaultIn } from '../../../core/merchant/settingFaultTexts.ts'
import { defaultSetting, type ShownSetting, shownSettings } from '../../../core/merchant/shownSettings.ts'
import type { Child } from '../../../core/markup/jsx-runtime.ts'
import { FormToken } from '../../../core/markup/page.tsx'
import { fill } from '../../../core/text.ts'
import { MerchantPage } from '../frame/frame.tsx'
import { DoneNotice } from '../ownAccount/ownAccountPages.tsx'
import type { MerchantVisit } from '../route.ts'
import { type SettingsNotice, settingsTexts } from './settingsTexts.ts'

export const settingsTextsOf = ({ lang }: MerchantVisit) => settingsTexts[lang]

// A user of the merchant may change what the merchant decides; an operator may change all.
export const decidesAt = ({ role }: MerchantVisit) => (role.at === 'operator' ? 'operator' : 'merchant')

export const mayEdit = (visit: MerchantVisit, group: SettingGroup) =>
  visit.may('settings.change') && settingsOfGroup(group).some(name => mayChange(decidesAt(visit), name))

type SettingsPageProps = {
  visit: MerchantVisit
  view: SettingsView
  redactDays?: number
  links: readonly { path: string; label: string }[]
  notice?: SettingsNotice
}

export const SettingsPage = ({ visit, view, redactDays, links, notice }: SettingsPageProps) => {
  const texts = settingsTextsOf(visit)
  const shown = new Map(shownSettings(view.settings).map(setting => [setting.name, setting]))
  return (
    <MerchantPage visit={visit} title={texts.title} place="settings">
      <h1>{texts.title}</h1>
      <DoneNotice text={notice && texts.done[notice]} />
      {links.length > 0 && (
        <nav class="row" aria-label={texts.more}>
          {links.map(({ path, label }) => (
            <a class="btn plain small" href={`${visit.base}${path}`}>
              {label}
            </a>
          ))}
        </nav>
      )}
      {settingGroups.map(group => (
        <GroupCard visit={visit} group={group} shown={shown} logo={view.logo} />
      ))}
      <RetentionCard texts={texts} redactDays={redactDays} />
    </MerchantPage>
  )
}

type Shown = ReadonlyMap<SettingName, ShownSetting>
type GroupProps = { visit: MerchantVisit; group: SettingGroup; shown: Shown; logo: SettingsView['logo'] }

const GroupCard = ({ visit, group, shown, logo }: GroupProps) => {
  const texts = settingsTextsOf(visit)
  return (
    <section class="card" aria-labelledby={`group-${group}`}>
      <header>
        <h2 id={`group-${group}`}>{texts.groups[group]}</h2>
        {mayEdit(visit, group) && (
          <a href={`${visit.base}/settings/${group}`} aria-describedby={`group-${group}`}>
            {texts.change}
          </a>
        )}
      </header>
      <dl class="settings">
        {group === 'branding' && (
          <div>
            <dt>{texts.logo}</dt>
            <dd>{logo ? `${logo.type.toUpperCase()}, ${logo.width}x${logo.height}` : texts.noLogo}</dd>
          </div>
        )}
        {settingsOfGroup(group).map(name => (
          <SettingRow visit={visit} setting={shown.get(name)!} />
        ))}
      </dl>
    </section>
  )
}

const SettingRow = ({ visit, setting }: { visit: MerchantVisit; setting: ShownSetting }) => {
  const texts = settingsTextsOf(visit)
  const { name, isDefault, unreadable } = setting
  const { decidedBy, texts: words } = settingTable[name]
  const value = valueText(visit, setting.value)
  return (
    <div>
      <dt>
        {words[visit.lang].label} <code>{name}</code>
      </dt>
      <dd>
        {unreadable === undefined ? (
          <b>{value}</b>
        ) : (
          <span class="fault">{fill(texts.unreadable, { text: unreadable, value })}</span>
        )}{' '}
        {isDefault && <span class="muted">({texts.isDefault})</span>}
      </dd>
      <dd class="does">
        {words[visit.lang].does} {decidedBy === 'operator' && <span class="pill">{texts.byOperator}</span>}
      </dd>
    </div>
  )
}

function valueText(visit: MerchantVisit, value: string | null): string {
  const texts = settingsTextsOf(visit)
  if (value === 'on' || value === 'off') return texts[value]
  return value ?? texts.none
}

type RetentionProps = {
  texts: Pick<typeof settingsTexts.en, 'privacy' | 'kept' | 'removed' | 'open'>
  redactDays?: number
}

// What the redaction removes, and when.
const RetentionCard = ({ texts, redactDays }: RetentionProps) => (
  <section class="card stack">
    <h2>{texts.privacy}</h2>
    <p>{redactDays === undefined ? texts.kept : fill(texts.removed, { days: redactDays })}</p>
    {redactDays !== undefined && <p class="small muted">{texts.open}</p>}
  </section>
)

type EditProps = {
  visit: MerchantVisit
  group: SettingGroup
  view: SettingsView
  typed?: Readonly<Partial<Record<SettingName, string>>> // what a refused form contained
  seen?: Readonly<Partial<Record<SettingName, string>>> // what its sender had seen
  faults?: readonly SettingFault[]
  beside?: Child // the preview
  below?: Child // the logo
}

// The form of one group.
export const EditSettingsPage = (props: EditProps) => {
  const { visit, group, view, typed, seen, faults = [], beside, below } = props
  const texts = settingsTextsOf(visit)
  const title = fill(texts.changeOf, { group: texts.groups[group] })
  const names = settingsOfGroup(group).filter(name => mayChange(decidesAt(visit), name))
  const form = (
    <section class="card roomy">
      <form method="post" action={`${visit.base}/settings/${group}`} class="stack" data-preview-form>
        {faults.length > 0 && (
          <p class="fault" role="alert">
            {texts.refused}
          </p>
        )}
        {names.map(name => (
          <SettingInput
            visit={visit}
            name={name}
            stored={settingText(name, view.settings?.[name])}
            typed={typed?.[name]}
            seen={seen?.[name]}
            fault={faults.find(one => one.name === name)}
          />
        ))}
        {isSensitiveGroup(group) && <p class="small muted">{texts.sensitive}</p>}
        <FormToken token={visit.formToken} />
        <div class="row">
          <button type="submit" class="btn">
            {texts.save}
          </button>
          {beside && (
            <button
              type="submit"
              class="btn plain"
              formaction={`${visit.base}/settings/${group}/show`}
              formnovalidate
              data-show
            >
              {texts.showPreview}
            </button>
          )}
        </div>
      </form>
    </section>
  )
  return (
    <MerchantPage
      visit={visit}
      title={title}
      place="settings"
      head={beside && <script src="/dashboard/public/preview.js" defer></script>}
    >
      <p class="crumb">
        <a href={`${visit.base}/settings`}>{texts.back}</a>
      </p>
      <h1>{title}</h1>
      {beside ? (
        <div class="previewed">
          <div class="stack">
            {form}
            {below}
          </div>
          {beside}
        </div>
      ) : (
        form
      )}
    </MerchantPage>
  )
}

type InputProps = {
  visit: MerchantVisit
  name: SettingName
  stored: string
  typed?: string
  seen?: string
  fault?: SettingFault
}

const SettingInput = ({ visit, name, stored, typed, seen, fault }: InputProps) => {
  const { choices, texts: words } = settingTable[name]
  const { label, does } = words[visit.lang]
  const value = typed ?? stored
  const text = fault && faultText(visit, fault)
  const described = [`${name}-hint`, text && `${name}-fault`].filter(Boolean).join(' ')
  const common = {
    class: 'input',
    id: name,
    name,
    'aria-describedby': described,
    'aria-invalid': text ? 'true' : undefined,
  }
  return (
    <div class="field">
      <label for={name}>{label}</label>
      <p class="hint" id={`${name}-hint`}>
        {does} {!choices && fill(settingsTextsOf(visit).defaultIs, { value: defaultText(visit, name) })}
      </p>
      {text && (
        <p class="fault" id={`${name}-fault`}>
          {text}
        </p>
      )}
      {choices ? (
        <select {...common}>
          {choices.map(choice => (
            <option value={choice} selected={(value || defaultSetting(name)) === choice}>
              {choiceText(visit, name, choice)}
            </option>
          ))}
        </select>
      ) : (
        <input {...common} value={value} maxlength={2000} autocomplete="off" />
      )}
      {/* A stale field is compared with the value that the page now names. */}
      <input
        type="hidden"
        name={`seen_${name}`}
        value={fault && 'isStale' in fault ? fault.now : (seen ?? stored)}
      />
    </div>
  )
}

const defaultText = (visit: MerchantVisit, name: SettingName) => valueText(visit, defaultSetting(name))

function choiceText(visit: MerchantVisit, name: SettingName, choice: string): string {
  const shown = valueText(visit, choice)
  return choice === defaultSetting(name) ? `${shown} (${settingsTextsOf(visit).isDefault})` : shown
}

function faultText(visit: MerchantVisit, fault: SettingFault): string {
  const texts = settingsTextsOf(visit)
  if ('isStale' in fault) return fill(texts.stale, { value: fault.now || defaultText(visit, fault.name) })
  return fill(texts.notAccepted, { fault: settingFaultIn(fault.text, visit.lang) })
}

// The passwords of style basic, which are shown once.
export const IpnPasswordsPage = ({ visit, passwords }: { visit: MerchantVisit; passwords: IpnPasswords }) => {
  const texts = settingsTextsOf(visit)
  return (
    <MerchantPage visit={visit} title={texts.passwordsTitle} place="settings">
      <section class="card roomy narrow stack">
        <h1>{texts.passwordsTitle}</h1>
        <p>{texts.passwordsText}</p>
        <dl class="facts">
          {(['test', 'live'] as const).map(mode => (
            <div>
              <dt>{mode}</dt>
              <dd>
                <code>{passwords[mode]}</code>
              </dd>
            </div>
          ))}
        </dl>
        <a class="btn wide" href={`${visit.base}/settings`}>
          {texts.passwordsDone}
        </a>
      </section>
    </MerchantPage>
  )
}
