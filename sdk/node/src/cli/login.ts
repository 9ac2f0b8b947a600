import { createTollgate } from '../client.ts'
import { TollgateError } from '../errors.ts'
import { type Command, CommandError, textOption, usageError } from './command.ts'
import { storeCredentials } from './credentials.ts'
import { explain } from './explain.ts'

export const login: Command = {
  usage: 'login [--url URL] [--key KEY]',
  summary: 'Store the address of a gateway and your keys in a file that only you can read.',
  details:
    'Asks for what is not given. The secrets are not shown while you type them, and are checked with the gateway before\n' +
    'they are stored. Other commands use the file for what the environment does not set.',
  options: {
    url: { type: 'string', value: 'URL', help: 'the address of the gateway' },
    key: { type: 'string', value: 'KEY', help: 'your merchant key: tk_... for tests' },
  },
  examples: ['login --url $TOLLGATE_URL'],
  async run(input) {
    const { io } = input
    const answer = async (name: string, question: string) =>
      textOption(input, name) ?? (await io.ask(question))
    const baseUrl = (await answer('url', 'Address of the gateway: ')).replace(/\/+$/, '')
    const merchantKey = await answer('key', 'Merchant key (tk_...): ')
    const merchantSecret = await io.ask('Secret key (not shown): ', true)
    const ipnSecret =
      (await io.ask('Signing secret of notifications (whsec_..., not shown; empty for none): ', true)) ||
      undefined
    if (!merchantSecret) throw usageError('The secret key is empty. Nothing was stored.')
    const credentials = { baseUrl, merchantKey, merchantSecret, ipnSecret }
    await check(credentials)
    const path = await storeCredentials(io.env, credentials)
    io.out(`The gateway accepts the key and the secret. Stored in ${path}, for your eyes only.`)
    if (merchantKey.startsWith('lk_'))
      io.out('This is a live key. Commands that make test payments refuse it.')
    return 0
  },
}

// A request that the gateway accepts only with the right secret, and that changes nothing.
async function check(credentials: Parameters<typeof createTollgate>[0]) {
  try {
    await createTollgate({ ...credentials, tries: 2 })
      .events({ limit: 1 })
      .next()
  } catch (error) {
    if (error instanceof TollgateError) throw new CommandError(`${explain(error)} Nothing was stored.`)
    throw error
  }
}
