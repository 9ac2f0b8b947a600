import { type Command, Option } from 'commander'
import { setLogo } from '../../actions/merchants/logos.ts'
import { logoPath } from '../../core/merchant/branding.ts'
import { removeLogo } from '../../store/merchants/merchants.ts'
import { merchantOf, type Opened, withDatabase } from '../database.ts'
import { CannotDo } from '../failure.ts'
import { examples } from '../help.ts'
import type { Cli, Output } from '../output.ts'
import { facts } from '../terminal.ts'
import { fetchLogo, readLogoFile } from './logoSource.ts'

type Asked = { file?: string; url?: string; remove?: true }

export function addMerchantLogo(merchant: Command, cli: Cli) {
  merchant
    .command('logo <id>')
    .description(
      'Show a logo on the pages of a merchant: a PNG or JPEG of 32x32 to 512x512 dots, at most 32 kB. It is stored here, ' +
        'written anew from the parts that draw it.',
    )
    .addOption(new Option('--file <path>', 'a picture on this machine').conflicts(['url', 'remove']))
    .addOption(
      new Option('--url <address>', 'a picture on the web, fetched now and once').conflicts('remove'),
    )
    .option('--remove', 'show none any more')
    .addHelpText(
      'after',
      examples(
        'tollgate merchant logo 7c2k9m0x4f --file logo.png',
        'tollgate merchant logo 7c2k9m0x4f --url https://shop.example/logo.png',
        'tollgate merchant logo 7c2k9m0x4f --remove',
      ),
    )
    .action(async (id: string, asked: Asked) =>
      cli.print(await withDatabase(database => changeLogo(database, id, asked))),
    )
}

async function changeLogo(database: Opened, id: string, asked: Asked): Promise<Output> {
  const { merchant_id, name } = await merchantOf(database.db, id)
  if (asked.remove) {
    const had = await removeLogo(database.db, merchant_id)
    const text = had ? `${name} shows no logo any more.` : `${name} had no logo.`
    return { data: { merchant_id, logo: null }, text }
  }
  const logo = await setLogo(database.db, merchant_id, await pictureOf(database, asked), database.clock())
  if (typeof logo === 'string') throw new CannotDo('refused', `This logo cannot be shown: ${logo}.`)
  const { type, width, height } = logo
  const data = { type, width, height, bytes: logo.bytes.length, path: logoPath(merchant_id, logo) }
  const text = facts([
    ['picture', `${type}, ${width}x${height}, ${data.bytes} bytes`],
    ['path', data.path],
  ])
  return {
    data: { merchant_id, logo: data },
    text: `${name} shows this logo on the pages that open from now on.\n\n${text}`,
  }
}

function pictureOf({ config }: Opened, { file, url }: Asked): Promise<Buffer> {
  if (file) return readLogoFile(file)
  if (url) return fetchLogo(config, url)
  throw new CannotDo('refused', 'Say which: --file, --url or --remove.')
}
