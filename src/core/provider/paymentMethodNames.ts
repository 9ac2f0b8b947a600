// What people call a payment method. The providers have the same names on their rows, but an old payment may be of a
// provider that is gone.
const names: Readonly<Record<string, string>> = {
  mtn_mobile_money: 'MTN MoMo',
  telecel_cash: 'Telecel Cash',
  airteltigo_money: 'AT Money',
  card: 'Card',
  ghqr: 'GhQR',
}

export const paymentMethodName = (payment_method: string) =>
  names[payment_method] ?? payment_method.replaceAll('_', ' ')
