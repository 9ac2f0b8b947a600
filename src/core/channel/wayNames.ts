// What people call a way to pay. The channels have the same names on their rows, but an old payment may be of a
// channel that is gone.
const names: Readonly<Record<string, string>> = {
  mtn_mobile_money: 'MTN MoMo',
  telecel_cash: 'Telecel Cash',
  airteltigo_money: 'AT Money',
  card: 'Card',
  ghqr: 'GhQR',
}

export const wayName = (payment_method: string) =>
  names[payment_method] ?? payment_method.replaceAll('_', ' ')
