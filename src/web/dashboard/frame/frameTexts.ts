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
  shortPlaces: { take: 'Take', accounts: 'Accounts' }, // on a phone
  roles: {
    owner: 'Owner',
    accountant: 'Accountant',
    developer: 'Developer',
    cashier: 'Cashier',
    admin: 'Admin',
    support: 'Support',
    finance: 'Finance',
    read_only: 'Read only',
  } satisfies Record<MerchantRole | OperatorRole, string>,
  operator: 'Operator',
  skip: 'To the content',
  dashboard: 'Dashboard',
  mode: 'Mode',
  test: 'Test',
  live: 'Live',
  testBand: 'Test mode: no real money moves',
  viewing: 'You see what {merchant} sees.',
  backToMerchants: 'Back to the merchants',
  findPayment: 'Find a payment of any merchant',
  find: 'Find',
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
  copy: {
    title: 'This is a copy',
    text: 'Nothing was changed. This gateway works on a copy of its database: it takes no live payment or refund, and sends nothing. If it is the real one now, the operator runs tollgate adopt.',
  },
  copyBand:
    'A copy of the database: nothing is sent, and no live payment is taken. tollgate adopt makes it the real one.',
  movedBand: 'The payments of this database were moved to another one: nothing is changed here.',
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
    money: 'Finances',
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
  shortPlaces: { take: 'Encaisser', accounts: 'Comptes' },
  roles: {
    owner: 'Propriétaire',
    accountant: 'Comptable',
    developer: 'Développeur',
    cashier: 'Caissier',
    admin: 'Administrateur',
    support: 'Assistance',
    finance: 'Responsable financier',
    read_only: 'Lecture seule',
  },
  operator: 'Exploitant',
  skip: 'Aller au contenu',
  dashboard: 'Tableau de bord',
  mode: 'Mode',
  test: 'Test',
  live: 'Réel',
  testBand: 'Mode test : aucun argent réel ne circule',
  viewing: 'Vous voyez ce que voit {merchant}.',
  backToMerchants: 'Retour aux marchands',
  findPayment: 'Rechercher un paiement de tout marchand',
  find: 'Rechercher',
  account: 'Votre compte',
  signOut: 'Se déconnecter',
  notFound: {
    title: 'Il n’y a rien ici',
    text: 'L’adresse est incorrecte, ou votre rôle ne donne pas accès à cette page.',
    back: 'Vers le tableau de bord',
  },
  refused: {
    title: 'Votre rôle ne permet pas cette action',
    text: 'Rien n’a été modifié. Adressez-vous au propriétaire du compte si vous en avez besoin.',
  },
  foreignForm: {
    title: 'Rien n’a été modifié',
    text: 'Le formulaire était trop ancien ou venait d’une autre page. Ouvrez la page à nouveau et recommencez.',
  },
  busy: {
    title: 'Trop de demandes en ce moment',
    text: 'Les paiements sont prioritaires. Réessayez dans quelques secondes.',
  },
  copy: {
    title: 'Ceci est une copie',
    text: 'Rien n’a été modifié. Cette passerelle travaille sur une copie de sa base de données : elle n’accepte ni paiement ni remboursement réel et n’envoie rien. Si c’est désormais la base d’origine, l’exploitant lance tollgate adopt.',
  },
  copyBand:
    'Copie de la base de données : rien n’est envoyé et aucun paiement réel n’est accepté. tollgate adopt en fait la base d’origine.',
  movedBand: 'Les paiements de cette base ont été déplacés vers une autre : rien n’est modifié ici.',
  unavailable: {
    title: 'Base de données indisponible',
    text: 'Rien n’a été modifié, sauf si la page l’indique une fois rechargée. Réessayez dans quelques secondes.',
  },
}

export const frameTexts: Record<Lang, FrameTexts> = { en, fr }
