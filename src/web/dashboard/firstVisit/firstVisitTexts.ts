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
  title: 'Votre passerelle fonctionne',
  demo: 'Découvrir',
  demoText:
    'Ce navigateur est connecté comme propriétaire de la boutique de démonstration, et comme exploitant. Cela ne vaut que sur cette machine, et prend fin dès que le premier compte existe.',
  asMerchant: 'Voir comme le marchand',
  asOperator: 'Voir comme l’exploitant',
  buy: 'Acheter dans la boutique de démonstration',
  account: 'Créer le compte de l’exploitant',
  accountText:
    'Il voit tous les marchands et invite les autres. L’étape suivante est un second facteur. Ensuite, un lien affiché dans le terminal donne accès à l’assistance, aux e-mails et aux métriques, mais pas au tableau de bord.',
  name: 'Votre nom',
  passwordHint: 'Au moins 10 caractères.',
  create: 'Créer le compte',
  support: 'Assistance, e-mails et métriques',
  nameFault: 'Indiquez un nom de 100 caractères au plus.',
  emailFault: 'Ce n’est pas une adresse e-mail.',
  tooOften: 'Trop de mots de passe sont en cours de vérification. Réessayez dans un instant.',
  noLink: 'Il n’y a pas encore de compte',
  noLinkText:
    'Le premier est créé par un lien. Sur la machine de la passerelle, lancez cette commande et ouvrez le lien qu’elle affiche :',
  exists: 'Le compte de l’exploitant existe',
  existsText:
    'Un lien affiché dans le terminal donne accès à l’assistance, aux e-mails et aux métriques, mais pas au tableau de bord.',
  signIn: 'Se connecter',
}

export const firstVisitTexts: Record<Lang, FirstVisitTexts> = { en, fr }
