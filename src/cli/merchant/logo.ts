import { audited } from '../../actions/access/audit.ts'
import { setLogo } from '../../actions/merchants/logos.ts'
import { Option } from 'commander'
import type { Config } from '../../config.ts'
import { logoEntry } from '../../core/access/auditEntries.ts'
import { logoPath } from '../../core/merchant/branding.ts'
import { removeLogo } from '../../store/merchants/merchants.ts'
import { maxLogoFileBytes } from '../../core/merchant/logo/logo.ts'
import type { UntrustedUrl } from '../../core/urlTrust.ts'
import { createOutbound } from '../../net/outbound.ts'
import { merchantEgress } from '../../start/egress.ts'
import { type CommandContext, requireMerchant } from '../database.ts'
import { refused } from '../failure.ts'
import type { CliCommand } from '../cliCommand.ts'
import type { Output } from '../output.ts'
import { readSmallFile } from '../smallFile.ts'
import { facts, paragraphs } from '../terminal.ts'

type Options = { file?: string; url?: string; remove?: true }

export function addMerchantLogo(merchant: CliCommand) {
  merchant
    .command('logo <id>')
    .description(
      'Set the logo on the pages of a merchant: a PNG or JPEG of 32x32 to 512x512 pixels, at most 32 kB. It is stored ' +
        'in the database, without metadata.',
    )
    .addOption(new Option('--file <path>', 'a picture on this machine').conflicts(['url', 'remove']))
    .addOption(new Option('--url <address>', 'a picture on the web, fetched once, now').conflicts('remove'))
    .option('--remove', 'show no logo')
    .examples(
      'tollgate merchant logo 7c2k9m0x4f --file logo.png',
      'tollgate merchant logo 7c2k9m0x4f --url https://shop.example/logo.png',
      'tollgate merchant logo 7c2k9m0x4f --remove',
    )
    .runWithDatabase(changeLogo)
}

async function changeLogo(
  { db, config, clock, actor }: CommandContext,
  id: string,
  options: Options,
): Promise<Output> {
  const { merchant_id, name } = await requireMerchant(db, id)
  if (options.remove) {
    const isRemoved = await audited(db, actor, clock(), async (tx, record) => {
      const removed = (await removeLogo(tx, merchant_id)) > 0
      if (removed) await record(logoEntry(merchant_id, null))
      return removed
    })
    const text = isRemoved ? `${name} no longer shows a logo.` : `${name} had no logo.`
    return { data: { merchant_id, logo: null }, text }
  }
  const picture = await readPicture(config, options)
  const now = clock()
  const logo = await audited(db, actor, now, async (tx, record) => {
    const set = await setLogo(tx, merchant_id, picture, now)
    if (typeof set !== 'string') await record(logoEntry(merchant_id, set))
    return set
  })
  if (typeof logo === 'string') throw refused(`This logo cannot be shown: ${logo}.`)
  const { type, width, height } = logo
  const data = { type, width, height, bytes: logo.bytes.length, path: logoPath(merchant_id, logo) }
  const text = facts([
    ['picture', `${type}, ${width}x${height}, ${data.bytes} bytes`],
    ['path', data.path],
  ])
  return {
    data: { merchant_id, logo: data },
    text: paragraphs(`Pages of ${name} show this logo from now on.`, text),
  }
}

function readPicture(config: Config, { file, url }: Options): Promise<Buffer> {
  if (file) return readSmallFile(file, maxLogoFileBytes)
  if (url) return fetchLogo(config, url)
  throw refused('Give --file, --url or --remove.')
}

// Uses the egress of notifications: it reaches no private address and follows no redirect.
async function fetchLogo(config: Config, url: UntrustedUrl): Promise<Buffer> {
  const outbound = createOutbound(merchantEgress(config))
  try {
    const {
      status,
      body,
      error: words,
    } = await outbound.send({
      method: 'GET',
      url,
      headers: { accept: 'image/png, image/jpeg' },
      lane: 'logo',
      maxBodyBytes: maxLogoFileBytes + 1, // one more byte shows that it is too large
      allowLoopback: config.TOLLGATE_EGRESS_LOOPBACK ?? false,
    })
    if (status === null) throw refused(`The logo could not be fetched: ${words}.`)
    if (status !== 200 || body === null)
      throw refused(`${url} answered ${status}: give the address of the picture itself.`)
    return body
  } finally {
    await outbound.close()
  }
}
