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
  approvals: 'En attente d’accord',
  approvalsText: 'Au-dessus de la limite de leur marchand. Une autre personne que le demandeur décide.',
  noApprovals: 'Aucun remboursement n’attend d’accord.',
  asked: 'Demandé par {who}, il y a {age}. Expire à {at}.',
  approve: 'Approuver {money}',
  reject: 'Refuser',
  why: 'Pourquoi',
  own: 'Vous l’avez demandé : une autre personne décide. Vous pouvez le reprendre en le refusant.',
  toRecord: 'En attente d’une personne',
  toRecordText:
    'Cherchez chacun chez son prestataire. Notez ce que vous trouvez : il n’est jamais envoyé deux fois.',
  noneToRecord: 'Chaque remboursement a un résultat ou est en cours.',
  states: { needs_action: 'Vous attend', unknown: 'Résultat inconnu' },
  payment: 'Paiement',
  record: 'Noter ce qu’il est devenu',
  succeeded: 'Il a été remboursé',
  failed: 'Il n’a pas été fait et ne le sera pas',
  at: 'Quand, UTC, par exemple 2026-05-31 ou 2026-05-31T18:00',
  reference: 'Référence à la banque ou chez le prestataire',
  note: 'Pourquoi il n’a pas été fait ; le marchand le voit',
  save: 'Noter',
  faults: {
    outcome: 'Choisissez ce qu’il est devenu.',
    at: 'Un jour ou une heure qui n’est pas à venir.',
    reference: '1 à 100 caractères',
    note: '1 à 500 caractères',
  },
  decisionFaults: {
    no_such_approval: 'Il n’y a pas un tel remboursement.',
    same_person: 'Qui demande un remboursement ne l’approuve pas.',
    ended: 'Rien n’a été modifié : c’était décidé avant, ou expiré.',
    amount: 'Rien n’a été modifié : il reste moins que ce montant.',
    limit: 'Rien n’a été modifié : la limite quotidienne du marchand serait dépassée.',
    refused: 'Rien n’a été modifié : le paiement ne peut pas être remboursé maintenant.',
    why: 'Dites pourquoi : 1 à 200 caractères.',
  },
  done: {
    approved: 'Le remboursement est approuvé et en route.',
    rejected: 'Le remboursement est refusé.',
    recorded: 'Le remboursement est noté.',
    already: 'Rien n’a été modifié : c’était décidé avant.',
  },
}

export const operatorRefundsTexts: Record<Lang, RefundsTexts> = { en, fr }
export type OperatorRefundNotice = keyof RefundsTexts['done']
export type DecisionFault = keyof RefundsTexts['decisionFaults']
