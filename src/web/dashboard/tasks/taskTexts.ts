import type { Lang } from '../../../core/languages/languages.ts'
import type { TaskKind } from '../../../core/payment/change.ts'

type KindTexts = { title: string; propose: string }

const en = {
  kinds: {
    refund: { title: 'Paid twice', propose: 'refund the second charge' },
    amount_mismatch: { title: 'Another amount was charged', propose: 'refund the charge' },
    unresolved: { title: 'No outcome for a day', propose: 'ask the provider; the payment has its reference' },
    other_order: { title: 'Paid, but for another order', propose: 'ask the provider why' },
    reference_taken: {
      title: 'One charge, two payments',
      propose: 'ask the provider which of them the money is for',
    },
    reversed: { title: 'The provider sent money back', propose: 'inform the merchant' },
    dispute_opened: {
      title: 'The customer’s bank disputes the charge',
      propose: 'answer the provider in time, with evidence from the merchant',
    },
    dispute_lost: { title: 'A dispute was lost', propose: 'inform the merchant' },
    not_set_up: {
      title: 'The account of the attempt is missing',
      propose: 'set the account up as before, or confirm its business',
    },
    account_refused: {
      title: 'Credentials refused',
      propose: 'test the account and correct its credentials',
    },
    unknown_code: { title: 'An unknown code of the provider', propose: 'ask the provider what it means' },
    refund_needs_action: { title: 'A refund waits for you', propose: 'read its reason, and act on it' },
    refund_unclear: {
      title: 'A refund without an outcome',
      propose: 'look for it at the provider, and record what you find',
    },
    refund_exceeds: {
      title: 'More went back than was paid',
      propose: 'ask the provider for the money back, or agree with the merchant who bears it',
    },
    not_recorded: {
      title: 'A reply could not be stored',
      propose: 'read the reason on the payment; polling continues',
    },
  } satisfies Record<TaskKind, KindTexts> as Record<TaskKind, KindTexts>,
  noOwner: 'No owner',
  proposed: 'Proposed',
}

type TaskTexts = typeof en

const fr: TaskTexts = {
  kinds: {
    refund: { title: 'Payé deux fois', propose: 'rembourser le second débit' },
    amount_mismatch: { title: 'Un autre montant a été débité', propose: 'rembourser le débit' },
    unresolved: {
      title: 'Aucun résultat depuis un jour',
      propose: 'demander au prestataire ; le paiement a sa référence',
    },
    other_order: {
      title: 'Payé, mais pour une autre commande',
      propose: 'demander la raison au prestataire',
    },
    reference_taken: {
      title: 'Un débit, deux paiements',
      propose: 'demander au prestataire auquel l’argent revient',
    },
    reversed: { title: 'Le prestataire a restitué des fonds', propose: 'informer le marchand' },
    dispute_opened: {
      title: 'La banque du client conteste le débit',
      propose: 'répondre à temps au prestataire, avec les preuves du marchand',
    },
    dispute_lost: { title: 'Un litige est perdu', propose: 'informer le marchand' },
    not_set_up: {
      title: 'Le compte de la tentative manque',
      propose: 'reconfigurer le compte comme avant, ou confirmer l’entreprise',
    },
    account_refused: {
      title: 'Identifiants refusés',
      propose: 'tester le compte et corriger ses identifiants',
    },
    unknown_code: {
      title: 'Un code inconnu du prestataire',
      propose: 'demander au prestataire ce qu’il signifie',
    },
    refund_needs_action: { title: 'Un remboursement est à traiter', propose: 'lire le motif, puis agir' },
    refund_unclear: {
      title: 'Un remboursement sans résultat',
      propose: 'le rechercher chez le prestataire, puis enregistrer le résultat',
    },
    refund_exceeds: {
      title: 'Le montant restitué dépasse le montant payé',
      propose: 'réclamer la différence au prestataire, ou convenir avec le marchand de qui la supporte',
    },
    not_recorded: {
      title: 'Une réponse n’a pas pu être enregistrée',
      propose: 'lire le motif sur le paiement ; le prestataire est toujours interrogé',
    },
  },
  noOwner: 'Sans responsable',
  proposed: 'Proposition',
}

export const taskTexts: Record<Lang, TaskTexts> = { en, fr }
