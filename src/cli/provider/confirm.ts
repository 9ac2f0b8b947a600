import type { Command } from 'commander'
import { confirmBusiness, type OtherBusiness } from '../../actions/providers/confirmBusiness.ts'
import { identityScope } from '../../core/provider/accountIdentity.ts'
import { type Opened, withMasterKeys } from '../database.ts'
import { CannotDo } from '../failure.ts'
import { examples } from '../help.ts'
import type { Cli, Output } from '../output.ts'
import { countAttempts } from './businessText.ts'
import { openOne } from './accountSetup.ts'

export function addProviderConfirm(command: Command, cli: Cli) {
  command
    .command('confirm <account>')
    .description(
      'Confirm that the credentials of an account are of the same business at the provider as before, so that its open ' +
        'attempts go on. Run it with the settings of the gateway. Never confirm it for another business: it does not know ' +
        'those attempts, and customers could be charged twice.',
    )
    .option('--business <id>', 'which one, where it could be several')
    .addHelpText('after', examples('tollgate provider confirm paystack'))
    .action(async (name: string, { business }: { business?: string }) =>
      cli.print(await withMasterKeys(opened => confirm(opened, name, business))),
    )
}

async function confirm(records: Opened, name: string, business: string | undefined): Promise<Output> {
  const { account } = await openOne(records, name)
  const { opened, credentialsDigest, provider } = account
  if (!opened || !credentialsDigest) throw new CannotDo('refused', `${name} cannot be opened.`)
  const credentials = { account: name, credentialsDigest, scope: identityScope(provider, opened) }
  const said = await confirmBusiness(records.db, credentials, records.clock(), business)
  if (said.done === 'several') throw severalBusinesses(name, said.businesses)
  if (said.done === 'nothing')
    return {
      data: { account: name, attempts: 0 },
      text: `Nothing to confirm: all attempts of ${name} are of one business.`,
    }
  const { attempts } = said
  return {
    data: { account: name, attempts },
    text:
      `${name} has credentials of the same business as before. ` +
      (attempts === 0
        ? 'No attempt is open.'
        : `${countAttempts(attempts)} ${attempts === 1 ? 'goes' : 'go'} on within a second.`),
  }
}

const severalBusinesses = (name: string, businesses: readonly OtherBusiness[]) =>
  new CannotDo(
    'ambiguous',
    `${name} has had several businesses: give --business with one of ${businesses
      .map(({ business, attempts }) => `${business} (${countAttempts(attempts)})`)
      .join(', ')}.`,
    { data: { businesses } },
  )
