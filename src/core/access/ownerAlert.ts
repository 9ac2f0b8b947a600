// What the owners of a merchant are told of by mail, because it could redirect money or open the account to others.
export const ownerAlerts = ['keys', 'ipn_url', 'payout', 'refund', 'team', 'settings'] as const
export type OwnerAlert = (typeof ownerAlerts)[number]
