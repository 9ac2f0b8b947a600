// The modules of Tollgate that the bench loads by name, as this version types them: a name that is gone, or a call with
// the wrong arguments, fails `npm run check`. Other versions are loaded by the same names.
export type Modules = {
  config: typeof import('../src/config.ts')
  'actions/access/sessions': typeof import('../src/actions/access/sessions.ts')
  'actions/ledger/balances': typeof import('../src/actions/ledger/balances.ts')
  'actions/ledger/closing': typeof import('../src/actions/ledger/closing.ts')
  'actions/ledger/seal': typeof import('../src/actions/ledger/seal.ts')
  'actions/ledger/statement': typeof import('../src/actions/ledger/statement.ts')
  'actions/merchants/onboard': typeof import('../src/actions/merchants/onboard.ts')
  'actions/merchants/setMerchant': typeof import('../src/actions/merchants/setMerchant.ts')
  'actions/notifications/findNotifications': typeof import('../src/actions/notifications/findNotifications.ts')
  'actions/payments/cancel': typeof import('../src/actions/payments/cancel.ts')
  'actions/payments/decisions': typeof import('../src/actions/payments/decisions.ts')
  'actions/payments/findPayments': typeof import('../src/actions/payments/findPayments.ts')
  'actions/payments/outletReport': typeof import('../src/actions/payments/outletReport.ts')
  'actions/payments/searchPayments': typeof import('../src/actions/payments/searchPayments.ts')
  'core/provider/selectAccounts': typeof import('../src/core/provider/selectAccounts.ts')
  'core/interface/refusal': typeof import('../src/core/interface/refusal.ts')
  'core/notification/notification': typeof import('../src/core/notification/notification.ts')
  'observe/log': typeof import('../src/observe/log.ts')
  'observe/metrics': typeof import('../src/observe/metrics.ts')
  'postgres/embedded': typeof import('../src/postgres/embedded.ts')
  'postgres/dataFolder': typeof import('../src/postgres/dataFolder.ts')
  'postgres/access': typeof import('../src/postgres/access.ts')
  'runtime/callbackBatcher': typeof import('../src/runtime/callbackBatcher.ts')
  'runtime/providerAccounts': typeof import('../src/runtime/providerAccounts.ts')
  'runtime/providers/accounts': typeof import('../src/runtime/providers/accounts.ts')
  'start/database': typeof import('../src/start/database.ts')
  'start/deliveries': typeof import('../src/start/deliveries.ts')
  'start/masterKeys': typeof import('../src/start/masterKeys.ts')
  'store/access/users': typeof import('../src/store/access/users.ts')
  'store/db': typeof import('../src/store/db.ts')
  'store/migrate/migrate': typeof import('../src/store/migrate/migrate.ts')
  'store/notifications/deliveries': typeof import('../src/store/notifications/deliveries.ts')
  'store/notifications/notifications': typeof import('../src/store/notifications/notifications.ts')
  'workers/node': typeof import('../src/workers/node.ts')
  'workers/payments': typeof import('../src/workers/payments.ts')
}
type Name = keyof Modules

// A checkout of Tollgate, this one or another.
export type Version = {
  folder: string
  copyOf?: string // the folder of the checkout that it was copied from
  program: string
  build: () => Promise<unknown>
  load: <Names extends Name[]>(...names: Names) => Promise<{ [At in keyof Names]: Modules[Names[At]] }>
}
