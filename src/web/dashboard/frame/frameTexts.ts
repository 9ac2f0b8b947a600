import type { MerchantRole, OperatorRole } from '../../../core/access/permissions.ts'
import type { Lang } from '../../../core/languages/languages.ts'

const en = {
  places: {
    overview: 'Overview',
    payments: 'Payments',
    take: 'Take a payment',
    money: 'Money',
    developers: 'Developers',
    settings: 'Settings',
    live: 'Live view',
    merchants: 'Merchants',
    accounts: 'Provider accounts',
    tasks: 'Tasks',
    refunds: 'Refunds',
    messages: 'Messages',
    people: 'Privacy',
    users: 'Users',
    audit: 'Audit',
    docs: 'Docs',
    more: 'More',
  },
  roles: {
    owner: 'Owner',
    accountant: 'Accountant',
    developer: 'Developer',
    cashier: 'Cashier',
    admin: 'Operator, admin',
    support: 'Operator, support',
    finance: 'Operator, finance',
    read_only: 'Operator, read only',
  } satisfies Record<MerchantRole | OperatorRole, string>,
  operator: 'Operator',
  dashboard: 'Dashboard',
  mode: 'Mode',
  test: 'Test',
  live: 'Live',
  testBand: 'Test mode: no real money moves',
  viewing: 'You see what {merchant} sees.',
  backToMerchants: 'Back to the merchants',
  account: 'Your account',
  signOut: 'Sign out',
  notFound: {
    title: 'There is nothing here',
    text: 'The address is wrong, or your role does not include this page.',
    back: 'To the dashboard',
  },
  refused: {
    title: 'Your role does not include this',
    text: 'Nothing was changed. Ask the owner of the account if you need it.',
  },
  foreignForm: {
    title: 'Nothing was changed',
    text: 'The form was too old or came from another page. Open the page again and repeat it.',
  },
  busy: {
    title: 'Too busy at this moment',
    text: 'Payments have priority. Try again in a few seconds.',
  },
  unavailable: {
    title: 'Database unavailable',
    text: 'Nothing was changed, unless the page says so after a reload. Try again in a few seconds.',
  },
}

export type FrameTexts = typeof en

const fr: FrameTexts = {
  places: {
    overview: 'Aperçu',
    payments: 'Paiements',
    take: 'Encaisser',
    money: 'Argent',
    developers: 'Développeurs',
    settings: 'Paramètres',
    live: 'En direct',
    merchants: 'Marchands',
    accounts: 'Comptes prestataires',
    tasks: 'Tâches',
    refunds: 'Remboursements',
    messages: 'Messages',
    people: 'Vie privée',
    users: 'Utilisateurs',
    audit: 'Journal d’audit',
    docs: 'Documentation',
    more: 'Plus',
  },
  roles: {
    owner: 'Propriétaire',
    accountant: 'Comptable',
    developer: 'Développeur',
    cashier: 'Caissier',
    admin: 'Opérateur, administrateur',
    support: 'Opérateur, assistance',
    finance: 'Opérateur, finances',
    read_only: 'Opérateur, lecture seule',
  },
  operator: 'Opérateur',
  dashboard: 'Tableau de bord',
  mode: 'Mode',
  test: 'Test',
  live: 'Réel',
  testBand: 'Mode test : aucun argent réel ne circule',
  viewing: 'Vous voyez ce que voit {merchant}.',
  backToMerchants: 'Retour aux marchands',
  account: 'Votre compte',
  signOut: 'Se déconnecter',
  notFound: {
    title: 'Il n’y a rien ici',
    text: 'L’adresse est fausse, ou votre rôle ne comprend pas cette page.',
    back: 'Vers le tableau de bord',
  },
  refused: {
    title: 'Votre rôle ne comprend pas cette action',
    text: 'Rien n’a été modifié. Demandez au propriétaire du compte si vous en avez besoin.',
  },
  foreignForm: {
    title: 'Rien n’a été modifié',
    text: 'Le formulaire était trop ancien ou venait d’une autre page. Ouvrez la page à nouveau et recommencez.',
  },
  busy: {
    title: 'Trop de demandes en ce moment',
    text: 'Les paiements ont la priorité. Réessayez dans quelques secondes.',
  },
  unavailable: {
    title: 'Base de données indisponible',
    text: 'Rien n’a été modifié, sauf si la page le montre après un rechargement. Réessayez dans quelques secondes.',
  },
}

export const frameTexts: Record<Lang, FrameTexts> = { en, fr }
