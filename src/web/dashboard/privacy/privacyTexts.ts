import type { Lang } from '../../../core/languages/languages.ts'

const en = {
  title: 'Privacy',
  intro:
    'Find, export or erase what is stored about one person. Each of these is recorded in the audit log, without the number or address.',
  person: 'Phone number or email address',
  personHint: 'Such as 024 123 4567 or ama@mail.example',
  find: 'Find',
  fault: 'Write a phone number or an email address.',
  found: 'Payments of this person',
  more: 'There are more; these are the newest.',
  none: 'No payment has this number, wallet or address.',
  noneHelp: 'Texts and extra fields of payments may still contain it. Erasing searches them, too.',
  reference: 'Reference',
  merchant: 'Merchant',
  when: 'Requested (UTC)',
  amount: 'Amount',
  status: 'Status',
  statuses: {
    awaiting_payment: 'Awaiting payment',
    paid: 'Paid',
    cancelled: 'Cancelled',
    failed: 'Failed',
  },
  export: 'Export as JSON',
  erase: 'Erase',
  eraseTitle: 'Erase this person',
  eraseText:
    'Number, email, name, description, extra fields, messages and the texts of notifications are removed from every payment of this person. Amounts, references and statuses stay. A payment with anything open keeps its data and is named. This cannot be undone.',
  confirm: 'Yes, remove the data of this person',
  confirmFault: 'Nothing was removed. Tick the box first.',
  erased: '{count} payments are erased so far.',
  erasedTexts: 'The person was removed from {count} other texts.',
  finished: 'Finished. All payments of all merchants were searched.',
  continues: 'Not finished: more payments are to be searched.',
  continue: 'Continue',
  kept: 'Kept for now',
  because: 'Because',
  retention: 'Retention',
  retentionOn: 'Personal data is removed by itself {days} days after a payment ended (TOLLGATE_REDACT_DAYS).',
  retentionOff: 'Personal data is not removed by itself: TOLLGATE_REDACT_DAYS is not set.',
  noneWaits: 'No payment waits for it.',
  waiting:
    'Payments that wait for it: {count}. Those with an open task, refund or dispute wait until that has ended.',
  nextDue: 'The next is due on {time}.',
  noneDue: 'No further payment has ended.',
  hourly: 'The nodes look every hour.',
}

export type PrivacyTexts = typeof en

const fr: PrivacyTexts = {
  title: 'Vie privée',
  intro:
    'Rechercher, exporter ou effacer les données conservées sur une personne. Chaque action est inscrite au journal d’audit, sans le numéro ni l’adresse.',
  person: 'Numéro de téléphone ou adresse e-mail',
  personHint: 'Par exemple 024 123 4567 ou ama@mail.example',
  find: 'Rechercher',
  fault: 'Indiquez un numéro de téléphone ou une adresse e-mail.',
  found: 'Paiements de cette personne',
  more: 'Il y en a d’autres ; voici les plus récents.',
  none: 'Aucun paiement n’a ce numéro, ce compte mobile money ou cette adresse.',
  noneHelp: 'Des textes et des champs extra peuvent encore en contenir. L’effacement les parcourt aussi.',
  reference: 'Référence',
  merchant: 'Marchand',
  when: 'Demandé (UTC)',
  amount: 'Montant',
  status: 'Statut',
  statuses: { awaiting_payment: 'En attente', paid: 'Payé', cancelled: 'Annulé', failed: 'Échoué' },
  export: 'Exporter en JSON',
  erase: 'Effacer',
  eraseTitle: 'Effacer cette personne',
  eraseText:
    'Numéro, e-mail, nom, description, champs extra, messages et textes des notifications sont supprimés de chaque paiement de cette personne. Les montants, références et statuts restent. Un paiement qui n’est pas entièrement terminé garde ses données et est indiqué. L’effacement est irréversible.',
  confirm: 'Oui, supprimer les données de cette personne',
  confirmFault: 'Rien n’a été supprimé. Cochez d’abord la case.',
  erased: 'Paiements effacés jusqu’ici : {count}.',
  erasedTexts: 'La personne a été retirée d’autres textes : {count}.',
  finished: 'Terminé. Tous les paiements de tous les marchands ont été parcourus.',
  continues: 'Non terminé : d’autres paiements restent à parcourir.',
  continue: 'Continuer',
  kept: 'Conservés pour l’instant',
  because: 'Motif',
  retention: 'Conservation',
  retentionOn:
    'Les données personnelles sont supprimées automatiquement {days} jours après la fin d’un paiement (TOLLGATE_REDACT_DAYS).',
  retentionOff:
    'Les données personnelles ne sont pas supprimées automatiquement : TOLLGATE_REDACT_DAYS n’est pas défini.',
  noneWaits: 'Aucun paiement n’attend.',
  waiting:
    'Paiements en attente de suppression : {count}. Ceux qui ont une tâche, un remboursement ou un litige ouvert attendent qu’il soit clos.',
  nextDue: 'Le prochain arrive à échéance le {time}.',
  noneDue: 'Aucun autre paiement n’est terminé.',
  hourly: 'La vérification a lieu toutes les heures.',
}

export const privacyTexts: Record<Lang, PrivacyTexts> = { en, fr }
