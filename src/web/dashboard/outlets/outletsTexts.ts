import type { Lang } from '../../../core/languages/languages.ts'

const en = {
  title: 'Outlets',
  settings: 'Settings',
  intro:
    'The branches of your shop. A payment request names one by its code as extra_outlet, a cashier takes payments for one, and reports have a row for each.',
  none: 'There are none yet.',
  code: 'Code',
  codeHint: 'In requests: letters, digits, - _ and dots, such as ACC-1. It cannot be changed later.',
  name: 'Name',
  nameHint: 'What your people and reports call it.',
  since: 'Since',
  addTitle: 'Add an outlet',
  add: 'Add the outlet',
  done: {
    added: 'The outlet is added. Requests may name it within a second.',
    already: 'There is this outlet already, so nothing was changed.',
  },
  faults: {
    code: 'Write 1 to 64 letters, digits, - _ or dots.',
    name: 'Write a name of 1 to 120 characters.',
    taken: 'Another outlet has this code.',
    full: 'There are 2,000 outlets, which is the most.',
  },
}

export type OutletsTexts = typeof en

const fr: OutletsTexts = {
  title: 'Points de vente',
  settings: 'Paramètres',
  intro:
    'Les succursales de votre boutique. Une demande de paiement en indique une par son code (extra_outlet), un caissier encaisse pour l’une d’elles, et les rapports ont une ligne pour chacune.',
  none: 'Il n’y en a pas encore.',
  code: 'Code',
  codeHint:
    'Dans les requêtes : lettres, chiffres, - _ et points, par exemple ACC-1. Il ne pourra plus être modifié.',
  name: 'Nom',
  nameHint: 'Celui que votre équipe et les rapports utilisent.',
  since: 'Depuis',
  addTitle: 'Ajouter un point de vente',
  add: 'Ajouter le point de vente',
  done: {
    added: 'Le point de vente est ajouté. Les requêtes peuvent l’indiquer en moins d’une seconde.',
    already: 'Ce point de vente existe déjà : rien n’a été modifié.',
  },
  faults: {
    code: 'Écrivez de 1 à 64 lettres, chiffres, - _ ou points.',
    name: 'Écrivez un nom de 1 à 120 caractères.',
    taken: 'Un autre point de vente a ce code.',
    full: 'Il y a 2 000 points de vente, ce qui est le maximum.',
  },
}

export const outletsTexts: Record<Lang, OutletsTexts> = { en, fr }
export type OutletsNotice = keyof OutletsTexts['done']
export type OutletFault = keyof OutletsTexts['faults']
