import { requireSending } from '../../../actions/installation/requireOriginal.ts'
import {
  basicPassword,
  developerKeys,
  revokeIpnSecret,
  revokeKey,
  rotateKeyAsSeen,
  rotatePasswordAsSeen,
  rotateSecretAsSeen,
} from '../../../actions/merchants/developerKeys.ts'
import { endpointHealth } from '../../../actions/notifications/endpointHealth.ts'
import { testEndpoint } from '../../../actions/notifications/testNotification.ts'
import { pageOfRequests } from '../../../actions/requests/findRequests.ts'
import type { MerchantPermission } from '../../../core/access/permissions.ts'
import type { Ctx } from '../../http/context.ts'
import type { AreaDeps } from '../areaDeps.ts'
import { sendDashboardPage } from '../frame/frame.tsx'
import type { MerchantRoute, MerchantVisit } from '../route.ts'
import { type DevelopersNotice, DevelopersPage, RequestsPage, ShownOncePage } from './developersPage.tsx'

const newest = 5 // refused requests on the first page
const page = 50
const hourMs = 3_600_000

// Keys, the health of the endpoint, and the request log.
export const developersRoutes = (deps: AreaDeps): MerchantRoute[] => {
  const route = (
    method: 'get' | 'post',
    path: string,
    permission: MerchantPermission,
    handle: (deps: AreaDeps, c: Ctx, visit: MerchantVisit) => Promise<Response>,
  ): MerchantRoute => ({
    method,
    path,
    permission,
    isSensitive: permission === 'keys.manage',
    handle: (c, visit) => handle(deps, c, visit),
  })
  return [
    route('get', '/developers', 'developers.view', showDevelopers),
    route('get', '/developers/requests', 'developers.view', showRequests),
    route('post', '/developers/test-notification', 'notifications.test', sendTest),
    route('post', '/developers/rotate-key', 'keys.manage', rotateOne),
    route('post', '/developers/rotate-secret', 'keys.manage', rotateSecretForm),
    route('post', '/developers/rotate-password', 'keys.manage', rotatePasswordForm),
    route('post', '/developers/revoke-key', 'keys.manage', revokeOne),
    route('post', '/developers/revoke-secret', 'keys.manage', revokeSecretForm),
  ]
}

async function readDevelopers({ db, mode, merchant: { merchant_id } }: MerchantVisit) {
  const [keys, password, health, { requests }] = await Promise.all([
    developerKeys(db, merchant_id, mode),
    basicPassword(db, merchant_id, mode),
    endpointHealth(db, merchant_id, mode),
    pageOfRequests(db, { merchant_id, mode, limit: newest }),
  ])
  return { keys, password, health, requests }
}

async function showDevelopers(_deps: AreaDeps, c: Ctx, visit: MerchantVisit) {
  const read = await readDevelopers(visit)
  const notice = (['revoked', 'secretRevoked', 'changed'] as const).find(one => one === c.req.query('done'))
  return sendDashboardPage(c, <DevelopersPage visit={visit} {...read} notice={notice} />)
}

// The page is read before the test is sent: the endpoint may take as long as the statements of this request may.
async function sendTest({ runtime, masterKeys, sendToMerchant }: AreaDeps, c: Ctx, visit: MerchantVisit) {
  const { db, mode, merchant, actor, now } = visit
  const { merchant_id } = merchant
  requireSending(runtime)
  const read = await readDevelopers(visit)
  const { limits, addressRules } = runtime
  const deps = { db, masterKeys, limits, addressRules, send: sendToMerchant }
  const tested = await testEndpoint(deps, { merchant_id, mode, actor }, now)
  const http = tested === 'too_often' ? 429 : 200
  return sendDashboardPage(c, <DevelopersPage visit={visit} {...read} tested={tested} />, http)
}

async function showRequests(_deps: AreaDeps, c: Ctx, visit: MerchantVisit) {
  const { merchant_id } = visit.merchant
  const filter = { merchant_id, mode: visit.mode, before: c.req.query('before'), limit: page }
  const { requests, next } = await pageOfRequests(visit.db, filter)
  return sendDashboardPage(c, <RequestsPage visit={visit} requests={requests} next={next} />)
}

const changeOf = ({ merchant, mode, actor, signedIn, field }: MerchantVisit) => ({
  merchant_id: merchant.merchant_id,
  mode,
  seen: field('seen'),
  overlapMs: (field('overlap') === '0' ? 0 : field('overlap') === '168' ? 168 : 24) * hourMs,
  actor,
  by: signedIn.user.name,
})

const done = (c: Ctx, { base }: MerchantVisit, notice: DevelopersNotice) =>
  c.redirect(`${base}/developers?done=${notice}`, 303)

async function rotateOne({ masterKeys }: AreaDeps, c: Ctx, visit: MerchantVisit) {
  const rotated = await rotateKeyAsSeen(visit.db, masterKeys, changeOf(visit), visit.now)
  if (!rotated) return done(c, visit, 'changed')
  const { merchant_key, secret_key, old_keys_valid_until: until } = rotated
  const values = [
    ['merchant_key', merchant_key],
    ['secret_key', secret_key],
  ] as const
  return sendDashboardPage(c, <ShownOncePage visit={visit} values={values} until={until} />)
}

async function rotateSecretForm({ masterKeys }: AreaDeps, c: Ctx, visit: MerchantVisit) {
  const rotated = await rotateSecretAsSeen(visit.db, masterKeys, changeOf(visit), visit.now)
  if (!rotated) return done(c, visit, 'changed')
  const { ipn_secret, old_secret_valid_until: until } = rotated
  const values = [['ipn_secret', ipn_secret]] as const
  return sendDashboardPage(c, <ShownOncePage visit={visit} values={values} until={until} />)
}

async function rotatePasswordForm({ masterKeys }: AreaDeps, c: Ctx, visit: MerchantVisit) {
  const rotated = await rotatePasswordAsSeen(visit.db, masterKeys, changeOf(visit), visit.now)
  if (!rotated) return done(c, visit, 'changed')
  const values = [['ipn_password', rotated.ipn_password]] as const
  return sendDashboardPage(c, <ShownOncePage visit={visit} values={values} />)
}

async function revokeOne(_deps: AreaDeps, c: Ctx, visit: MerchantVisit) {
  const isRevoked = await revokeKey(visit.db, changeOf(visit), visit.field('key'), visit.now)
  return done(c, visit, isRevoked ? 'revoked' : 'changed')
}

async function revokeSecretForm(_deps: AreaDeps, c: Ctx, visit: MerchantVisit) {
  const isRevoked = await revokeIpnSecret(visit.db, changeOf(visit), visit.field('secret'), visit.now)
  return done(c, visit, isRevoked ? 'secretRevoked' : 'changed')
}
