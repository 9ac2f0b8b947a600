// Who may see and do what on the dashboard. This table decides every page and action: the routes name a permission, the
// tests send every request of the table as every role, and docs/access.md prints it.

export const merchantRoles = ['owner', 'accountant', 'developer', 'cashier'] as const
export const operatorRoles = ['admin', 'support', 'finance', 'read_only'] as const
export type MerchantRole = (typeof merchantRoles)[number]
export type OperatorRole = (typeof operatorRoles)[number]

type Rule = {
  means: string // for the docs
  merchant: readonly MerchantRole[]
  operator: readonly OperatorRole[]
}

const { owner, accountant, developer, cashier } = {
  owner: 'owner',
  accountant: 'accountant',
  developer: 'developer',
  cashier: 'cashier',
} as const
const { admin, support, finance, read_only } = {
  admin: 'admin',
  support: 'support',
  finance: 'finance',
  read_only: 'read_only',
} as const
const everyOperator = operatorRoles

// The part of one merchant. An operator sees what the merchant sees, and acts in his own name.
export const merchantPermissions = {
  'overview.view': {
    means: 'See the overview',
    merchant: [owner, accountant, developer],
    operator: everyOperator,
  },
  'payments.view': {
    means: 'Search payments and see one, with masked numbers',
    merchant: [owner, accountant, developer],
    operator: everyOperator,
  },
  'payments.export': {
    means: 'Export the filtered payments as CSV',
    merchant: [owner, accountant],
    operator: [admin, finance],
  },
  'payments.reveal': {
    means: "See the customer's full number and email; each look is recorded",
    merchant: [owner, accountant],
    operator: [admin, support],
  },
  'payments.refund': {
    means: 'Refund a payment',
    merchant: [owner, accountant],
    operator: [admin, finance],
  },
  'payments.receipt': {
    means: 'Send a receipt again, read the messages',
    merchant: [owner, accountant, developer],
    operator: [admin, support],
  },
  'payments.redeliver': {
    means: 'Send a notification again',
    merchant: [owner, developer],
    operator: [admin, support],
  },
  'payments.cancel': {
    means: 'Cancel a payment that is not paid',
    merchant: [owner, accountant],
    operator: [admin, support],
  },
  'take.payment': {
    means: 'Take a payment, and see its status',
    merchant: [owner, accountant, cashier],
    operator: [],
  },
  'money.view': {
    means: 'See balance, statement, fees, refunds, disputes and the daily closing',
    merchant: [owner, accountant],
    operator: [admin, finance, read_only],
  },
  'money.export': {
    means: 'Export statement and daily closing as CSV',
    merchant: [owner, accountant],
    operator: [admin, finance],
  },
  'refunds.approve': {
    means: "Approve or reject another person's refund above the limit",
    merchant: [owner, accountant],
    operator: [admin, finance],
  },
  'developers.view': {
    means: 'See keys, endpoint health and the request log',
    merchant: [owner, developer],
    operator: [admin, support, read_only],
  },
  'keys.manage': {
    means: 'Create, rotate and revoke keys and signing secrets',
    merchant: [owner, developer],
    operator: [admin],
  },
  'notifications.test': {
    means: 'Send a test notification',
    merchant: [owner, developer],
    operator: [admin, support],
  },
  'settings.view': {
    means: 'See the settings',
    merchant: [owner, accountant, developer],
    operator: everyOperator,
  },
  'settings.change': {
    means: 'Change settings, logo and colour, add outlets',
    merchant: [owner],
    operator: [admin],
  },
  'limits.change': {
    means: 'Change limits, fees and what else only the operator decides',
    merchant: [],
    operator: [admin],
  },
  'team.view': { means: 'See the team', merchant: [owner], operator: [admin, read_only] },
  'team.manage': {
    means: 'Invite people, change their role, remove them',
    merchant: [owner],
    operator: [admin],
  },
  'audit.view': {
    means: 'See and export the audit log of the merchant',
    merchant: [owner],
    operator: [admin, read_only],
  },
} as const satisfies Record<string, Rule>

// The part of the operator.
export const operatorPermissions = {
  'live.view': { means: 'See the live view', merchant: [], operator: everyOperator },
  'merchants.view': { means: 'See the merchants', merchant: [], operator: everyOperator },
  'merchants.manage': {
    means: 'Onboard and deactivate merchants; set limits, fees and methods',
    merchant: [],
    operator: [admin],
  },
  'accounts.view': { means: 'See provider accounts and their health', merchant: [], operator: everyOperator },
  'accounts.manage': {
    means: 'Add, test and change provider accounts',
    merchant: [],
    operator: [admin],
  },
  'tasks.view': { means: 'See the tasks', merchant: [], operator: everyOperator },
  'tasks.work': {
    means: 'Take a task, write a note, close it',
    merchant: [],
    operator: [admin, support, finance],
  },
  'operator_refunds.view': {
    means: 'See the refunds that wait for approval',
    merchant: [],
    operator: everyOperator,
  },
  'operator_refunds.approve': {
    means: 'Approve or reject them',
    merchant: [],
    operator: [admin, finance],
  },
  'messages.view': {
    means: 'See messages and their failures',
    merchant: [],
    operator: [admin, support, read_only],
  },
  'people.find': {
    means: 'Find and export the data of one person',
    merchant: [],
    operator: [admin, support],
  },
  'people.erase': { means: 'Erase the data of one person', merchant: [], operator: [admin] },
  'users.view': { means: 'See the users', merchant: [], operator: [admin, read_only] },
  'users.manage': {
    means: 'Invite users, change their role, deactivate them',
    merchant: [],
    operator: [admin],
  },
  'operator_audit.view': {
    means: 'See, verify and export the whole audit log',
    merchant: [],
    operator: [admin, read_only],
  },
} as const satisfies Record<string, Rule>

export type MerchantPermission = keyof typeof merchantPermissions
export type OperatorPermission = keyof typeof operatorPermissions
export type Permission = MerchantPermission | OperatorPermission

export const permissions: Readonly<Record<Permission, Rule>> = {
  ...merchantPermissions,
  ...operatorPermissions,
}

// A role, and whether it is one at the merchant or at the operator.
export type Role = { at: 'merchant'; role: MerchantRole } | { at: 'operator'; role: OperatorRole }

export const isPermitted = (role: Role, permission: Permission): boolean =>
  role.at === 'merchant'
    ? permissions[permission].merchant.includes(role.role)
    : permissions[permission].operator.includes(role.role)
