import type { Lang } from '../../../core/languages/languages.ts'

const en = {
  title: 'Your gateway is running',
  demo: 'Look around',
  demoText:
    'This browser is signed in as the owner of the demo shop, and as operator. That works on this machine only, and ends when the first account exists.',
  asMerchant: 'See it as the merchant',
  asOperator: 'See it as the operator',
  buy: 'Buy something in the demo shop',
  account: 'Create the operator’s account',
  accountText:
    'It sees all merchants and invites everybody else. The next step is a second factor. Afterwards a link from the terminal opens support, emails and metrics, and nothing of the dashboard.',
  name: 'Your name',
  passwordHint: 'At least 10 characters.',
  create: 'Create the account',
  support: 'Support, emails and metrics',
  nameFault: 'Write a name of at most 100 characters.',
  emailFault: 'This is not an email address.',
  tooOften: 'Too many passwords are being checked. Try again in a moment.',
  noLink: 'No account exists yet',
  noLinkText:
    'The first one is created with a link. On the machine of the gateway, run this command and open the link that it prints:',
  exists: 'The operator’s account exists',
  existsText: 'A link from the terminal opens support, emails and metrics, and nothing of the dashboard.',
  signIn: 'Sign in',
}

export type FirstVisitTexts = typeof en

const fr: FirstVisitTexts = {
  title: 'Votre passerelle est en marche',
  demo: 'Faire le tour',
  demoText:
    'Ce navigateur est connecté comme propriétaire de la boutique de démonstration, et comme opérateur. Cela ne vaut que sur cette machine, et prend fin dès que le premier compte existe.',
  asMerchant: 'La voir comme le marchand',
  asOperator: 'La voir comme l’opérateur',
  buy: 'Acheter dans la boutique de démonstration',
  account: 'Créer le compte de l’opérateur',
  accountText:
    'Il voit tous les marchands et invite les autres. L’étape suivante est un second facteur. Ensuite, un lien du terminal ouvre l’assistance, les e-mails et les mesures, et rien du tableau de bord.',
  name: 'Votre nom',
  passwordHint: 'Au moins 10 caractères.',
  create: 'Créer le compte',
  support: 'Assistance, e-mails et mesures',
  nameFault: 'Écrivez un nom de 100 caractères au plus.',
  emailFault: 'Ce n’est pas une adresse e-mail.',
  tooOften: 'Trop de mots de passe sont vérifiés. Réessayez dans un instant.',
  noLink: 'Il n’y a pas encore de compte',
  noLinkText:
    'Le premier est créé par un lien. Sur la machine de la passerelle, lancez cette commande et ouvrez le lien qu’elle affiche :',
  exists: 'Le compte de l’opérateur existe',
  existsText:
    'Un lien du terminal ouvre l’assistance, les e-mails et les mesures, et rien du tableau de bord.',
  signIn: 'Se connecter',
}

export const firstVisitTexts: Record<Lang, FirstVisitTexts> = { en, fr }
