import { FormToken } from '../../../core/markup/page.tsx'
import type { Outlet } from '../../../actions/merchants/outlets.ts'
import { MerchantPage } from '../frame/frame.tsx'
import { TypedField } from '../merchants/newMerchantPage.tsx'
import { DoneNotice } from '../ownAccount/ownAccountPages.tsx'
import type { MerchantVisit } from '../route.ts'
import { type OutletFault, type OutletsNotice, outletsTexts } from './outletsTexts.ts'

export const outletsPath = ({ base }: MerchantVisit) => `${base}/settings/outlets`

type OutletsProps = {
  visit: MerchantVisit
  outlets: readonly Outlet[]
  notice?: OutletsNotice
  typed?: { code: string; name: string }
  fault?: OutletFault
}

// The branches of a merchant, and a form that adds one.
export const OutletsPage = (props: OutletsProps) => {
  const { visit, outlets, notice } = props
  const texts = outletsTexts[visit.lang]
  return (
    <MerchantPage visit={visit} title={texts.title} place="settings">
      <p class="crumb">
        <a href={`${visit.base}/settings`}>{texts.settings}</a>
      </p>
      <h1>{texts.title}</h1>
      <DoneNotice text={notice && texts.done[notice]} />
      <p class="muted">{texts.intro}</p>
      <section class="card">
        {outlets.length === 0 ? <p class="muted">{texts.none}</p> : <OutletTable {...props} />}
      </section>
      {visit.may('settings.change') && <AddOutletCard {...props} />}
    </MerchantPage>
  )
}

const OutletTable = ({ visit, outlets }: OutletsProps) => {
  const texts = outletsTexts[visit.lang]
  return (
    <table class="fold">
      <thead>
        <tr>
          <th>{texts.name}</th>
          <th>{texts.code}</th>
          <th>{texts.since}</th>
        </tr>
      </thead>
      <tbody>
        {outlets.map(({ code, name, created_at }) => (
          <tr>
            <td class="wrap">
              <b>{name}</b>
            </td>
            <td>
              <code>{code}</code>
            </td>
            <td class="num">{created_at.toISOString().slice(0, 10)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const AddOutletCard = ({ visit, typed, fault }: OutletsProps) => {
  const texts = outletsTexts[visit.lang]
  const faultOf = (...of: OutletFault[]) => (fault && of.includes(fault) ? texts.faults[fault] : undefined)
  return (
    <section class="card roomy narrow">
      <form method="post" action={outletsPath(visit)} class="stack">
        <h2>{texts.addTitle}</h2>
        <TypedField
          name="name"
          label={texts.name}
          hint={texts.nameHint}
          value={typed?.name}
          fault={faultOf('name', 'full')}
          isRequired
        />
        <TypedField
          name="code"
          label={texts.code}
          hint={texts.codeHint}
          value={typed?.code}
          fault={faultOf('code', 'taken')}
          isRequired
        />
        <FormToken token={visit.formToken} />
        <button type="submit" class="btn">
          {texts.add}
        </button>
      </form>
    </section>
  )
}
