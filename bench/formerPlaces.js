// Where the modules that the bench loads stood before the files were moved into rooms, and what had another name then.
// Those that never moved are not listed.
export const formerPlaces = {
  'actions/merchants/onboard': { place: 'actions/onboard' },
  'actions/merchants/setMerchant': { place: 'actions/setMerchant' },
  'actions/payments/cancel': { place: 'actions/cancel' },
  'observe/log': { place: 'log' },
  'observe/metrics': { place: 'web/metrics' },
  'start/database': { place: 'records', names: { openDatabase: 'openRecords' } },
  'start/deliveries': { place: 'dispatch', names: { openDeliveries: 'openDispatch' } },
  'start/masterKeys': { place: 'store/masterKeys' },
  'store/migrate/migrate': { place: 'store/migrate' },
  'store/notifications/notifications': { place: 'store/notifications' },
}
