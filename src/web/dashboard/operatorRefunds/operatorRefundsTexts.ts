import type { Lang } from '../../../core/languages/languages.ts'

const en = {
  title: 'Refunds',
  approvals: 'Waiting for approval',
  approvalsText: 'Above the limit of their merchant. Another person than the one who asked decides.',
  noApprovals: 'No refund waits for approval.',
  asked: 'Asked by {who}, {age} ago. It ends at {at}.',
  approve: 'Approve {money}',
  reject: 'Reject',
  why: 'Why',
  own: 'You asked for it: another person decides. You can take it back by rejecting it.',
  toRecord: 'Waiting for a person',
  toRecordText: 'Look for each at its provider. Record what you find: it is never sent twice.',
  noneToRecord: 'Every refund has an outcome or is under way.',
  states: { needs_action: 'Needs you', unknown: 'Outcome unknown' } as Readonly<Record<string, string>>,
  payment: 'Payment',
  record: 'Record what became of it',
  succeeded: 'It was paid back',
  failed: 'It was not made, and will not be',
  at: 'When, UTC, such as 2026-05-31 or 2026-05-31T18:00',
  reference: 'Reference at the bank or the provider',
  note: 'Why it was not made; the merchant sees it',
  save: 'Record it',
  faults: {
    outcome: 'Choose what became of it.',
    at: 'A day or a time that is not in the future.',
    reference: '1 to 100 characters',
    note: '1 to 500 characters',
  },
  decisionFaults: {
    no_such_approval: 'There is no such refund.',
    same_person: 'Who asked for a refund does not approve it.',
    ended: 'Nothing was changed: it was decided before, or has ended.',
    amount: 'Nothing was changed: less is left of the payment than this amount.',
    limit: 'Nothing was changed: the daily limit of the merchant would be passed.',
    refused: 'Nothing was changed: the payment cannot be refunded now.',
    why: 'Say why: 1 to 200 characters.',
  },
  done: {
    approved: 'The refund is approved and on its way.',
    rejected: 'The refund is rejected.',
    recorded: 'The refund is recorded.',
    already: 'Nothing was changed: it was decided before.',
  },
}

type RefundsTexts = typeof en

const fr: RefundsTexts = {
  title: 'Remboursements',
  approvals: 'En attente d’approbation',
  approvalsText: 'Ils dépassent la limite de leur marchand. Une autre personne que le demandeur décide.',
  noApprovals: 'Aucun remboursement n’attend d’approbation.',
  asked: 'Demandé par {who}, il y a {age}. Expire le {at}.',
  approve: 'Approuver {money}',
  reject: 'Refuser',
  why: 'Motif',
  own: 'Vous l’avez demandé : une autre personne décide. Vous pouvez le retirer en le refusant.',
  toRecord: 'À traiter par une personne',
  toRecordText:
    'Recherchez chacun d’eux chez son prestataire et enregistrez ce que vous constatez : il n’est jamais envoyé deux fois.',
  noneToRecord: 'Tous les remboursements ont un résultat ou sont en cours.',
  states: { needs_action: 'À traiter', unknown: 'Résultat inconnu' },
  payment: 'Paiement',
  record: 'Enregistrer le résultat',
  succeeded: 'Il a été effectué',
  failed: 'Il n’a pas été effectué et ne le sera pas',
  at: 'Date et heure UTC, par exemple 2026-05-31 ou 2026-05-31T18:00',
  reference: 'Référence auprès de la banque ou du prestataire',
  note: 'Motif, visible par le marchand',
  save: 'Enregistrer',
  faults: {
    outcome: 'Choisissez le résultat.',
    at: 'Une date ou une heure passée.',
    reference: '1 à 100 caractères',
    note: '1 à 500 caractères',
  },
  decisionFaults: {
    no_such_approval: 'Ce remboursement n’existe pas.',
    same_person: 'La personne qui demande un remboursement ne peut pas l’approuver.',
    ended: 'Rien n’a été modifié : la demande était déjà tranchée, ou expirée.',
    amount: 'Rien n’a été modifié : il reste moins que ce montant sur le paiement.',
    limit: 'Rien n’a été modifié : le plafond journalier du marchand serait dépassé.',
    refused: 'Rien n’a été modifié : le paiement ne peut pas être remboursé maintenant.',
    why: 'Indiquez le motif : 1 à 200 caractères.',
  },
  done: {
    approved: 'Le remboursement est approuvé et en cours.',
    rejected: 'Le remboursement est refusé.',
    recorded: 'Le résultat du remboursement est enregistré.',
    already: 'Rien n’a été modifié : la demande était déjà tranchée.',
  },
}

export const operatorRefundsTexts: Record<Lang, RefundsTexts> = { en, fr }
export type OperatorRefundNotice = keyof RefundsTexts['done']
export type DecisionFault = keyof RefundsTexts['decisionFaults']
