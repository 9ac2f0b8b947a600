import { findRequest, newestRequests } from '../../actions/requests/findRequests.ts'
import {
  type RefusedRequest,
  requestRecord,
  requestsKeptDays,
  storedPerCode,
} from '../../core/interface/refusedRequest.ts'
import type { Mode } from '../../core/mode.ts'
import { withoutControls } from '../../core/timeline/history.ts'
import type { CliCommand } from '../cliCommand.ts'
import { type CommandContext, requireMerchant } from '../database.ts'
import { notFound } from '../failure.ts'
import { type Output, pick } from '../output.ts'
import { dateTime, type Fact, facts, indented, paint, paragraphs, section, table } from '../terminal.ts'
import { modeOption, readLimit } from '../values.ts'

export function addRequestCommands(program: CliCommand) {
  const request = program
    .command('request')
    .description('Show requests of merchants that were refused, and why.')
    .examples(
      'tollgate request show req_7m2k9c4w8x1z5b3n',
      'tollgate request list --merchant 7c2k9m0x4f --mode test',
    )
  request
    .command('show <request-id>')
    .description(
      'Show a refused request by its id, which is in the response and in the log: the reason, and the fields as they ' +
        'were sent. Personal data is masked, secrets are removed.',
    )
    .examples('tollgate request show req_7m2k9c4w8x1z5b3n')
    .runWithDatabase(show)
  request
    .command('list')
    .description(
      `List the refused requests of a merchant in the last ${requestsKeptDays} days, newest first. Of each error code, ` +
        `the first ${storedPerCode} of a day are stored.`,
    )
    .requiredOption('--merchant <id>', 'the merchant')
    .addOption(modeOption('only those of this mode'))
    .option('--before <request-id>', 'only requests older than this one')
    .option('--limit <count>', 'how many at most', readLimit, 20)
    .examples('tollgate request list --merchant 7c2k9m0x4f')
    .runWithDatabase(list)
}

async function show({ db }: CommandContext, id: string): Promise<Output> {
  const found = await findRequest(db, id)
  if (!found)
    throw notFound(
      `No refused request with the id ${id} is stored. Requests without a known merchant_key are only in the log.`,
    )
  const { merchant_name, ...request } = found
  const all: Fact[] = [
    ['request', request.request_id],
    ['time', dateTime(request.refused_at)],
    ['merchant', `${merchant_name} (${request.merchant_id})`],
    ['mode', request.mode],
    ['address', `${request.method} ${request.path}`],
    ['status', String(request.http)],
    ['code', request.code],
    ['field', request.field],
    ['message', withoutControls(request.message)],
  ]
  const hint = Object.entries(request.hint ?? {})
  const fields = Object.entries(request.fields)
  return {
    data: { ...requestData(request), merchant_name },
    text: paragraphs(
      facts(all),
      hint.length > 0 && section('Hint', indented(facts(hint.map(printed)))),
      fields.length > 0 && section('Fields', indented(facts(fields.map(printed)))),
    ),
  }
}

const printed = ([name, value]: readonly [string, string]): Fact => [name, withoutControls(value)]

type Filter = { merchant: string; mode?: Mode; before?: string; limit: number }

async function list({ db }: CommandContext, { merchant, ...filter }: Filter): Promise<Output> {
  const { merchant_id } = await requireMerchant(db, merchant)
  if (filter.before && !(await findRequest(db, filter.before)))
    throw notFound(`No refused request with the id ${filter.before} is stored.`)
  const { requests, notStored } = await newestRequests(db, { ...filter, merchant_id })
  return {
    data: { requests: requests.map(requestData), not_stored: notStored },
    text: paragraphs(
      requests.length > 0 ? requestTable(requests) : 'No refused request is stored.',
      notStored > 0 &&
        paint(
          'yellow',
          `${notStored} more were refused and not stored: of each error code, the first ${storedPerCode} of a day are.`,
        ),
    ),
  }
}

const requestTable = (requests: readonly RefusedRequest[]) =>
  table(
    ['REQUEST', 'TIME', 'MODE', 'ADDRESS', 'HTTP', 'CODE', 'MESSAGE'],
    requests.map(request => [
      request.request_id,
      dateTime(request.refused_at),
      request.mode,
      `${request.method} ${request.path}`,
      request.http,
      request.code,
      withoutControls(request.message),
    ]),
    ['HTTP'],
  )

const requestData = (request: RefusedRequest) => ({
  ...requestRecord(request),
  ...pick(request, 'merchant_id', 'mode'),
})
