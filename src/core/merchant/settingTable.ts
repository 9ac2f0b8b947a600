import type { Lang } from '../languages/languages.ts'
import type { SettingName } from './settings.ts'

// What each setting of a merchant does, and who may change it. This table is the source of the help of
// `tollgate merchant set`, of the dashboard's settings page and of its documentation.

export const settingGroups = [
  'notifications',
  'requests',
  'checkout',
  'branding',
  'refunds',
  'limits',
  'fees',
] as const
export type SettingGroup = (typeof settingGroups)[number]

type SettingWords = { label: string; does: string }

export type SettingRule = {
  group: SettingGroup
  decidedBy: 'merchant' | 'operator' // an operator may also change what the merchant decides
  isSensitive?: boolean // a change could redirect money or open the account: it needs a step-up, and the owners get a mail
  choices?: readonly string[] // without them it is a text
  texts: Record<Lang, SettingWords>
}

const onOff = ['on', 'off'] as const

const rule = (
  group: SettingGroup,
  decidedBy: SettingRule['decidedBy'],
  en: [label: string, does: string],
  fr: [label: string, does: string],
  more: Pick<SettingRule, 'isSensitive' | 'choices'> = {},
): SettingRule => ({
  group,
  decidedBy,
  texts: { en: { label: en[0], does: en[1] }, fr: { label: fr[0], does: fr[1] } },
  ...more,
})

export const settingTable: Readonly<Record<SettingName, SettingRule>> = {
  ipn_url: rule(
    'notifications',
    'merchant',
    [
      'Notification address',
      'Your server is notified here of each result, if a request names no other address.',
    ],
    [
      'URL de notification',
      'Votre serveur y est notifié de chaque résultat, sauf si une requête indique une autre URL.',
    ],
    { isSensitive: true },
  ),
  ipn_style: rule(
    'notifications',
    'merchant',
    [
      'Format of notifications',
      'post sends the result, get only asks you to check the status, and basic sends a password for older clients.',
    ],
    [
      'Format des notifications',
      'post envoie le résultat, get demande seulement de vérifier le statut, et basic envoie un mot de passe pour les anciens clients.',
    ],
    { isSensitive: true, choices: ['post', 'get', 'basic'] },
  ),
  form_ipn_url: rule(
    'notifications',
    'merchant',
    [
      'Notification addresses of requests',
      'registered refuses a request whose notification address is on no registered origin; any accepts every address.',
    ],
    [
      'URL de notification des requêtes',
      'registered refuse une requête dont l’URL de notification n’appartient à aucune origine enregistrée ; any accepte toutes les URL.',
    ],
    { isSensitive: true, choices: ['any', 'registered'] },
  ),
  ipn_refunds: rule(
    'notifications',
    'merchant',
    ['Notifications of refunds', 'Your server is notified of refunds, too.'],
    ['Notifications des remboursements', 'Votre serveur est aussi notifié des remboursements.'],
    { choices: onOff },
  ),
  ipn_taken_payments: rule(
    'notifications',
    'merchant',
    [
      'Notifications of taken payments',
      'Your server is notified of payments that your staff take on the dashboard, too.',
    ],
    [
      'Notifications des paiements encaissés',
      'Votre serveur est aussi notifié des paiements que votre équipe encaisse sur le tableau de bord.',
    ],
    { choices: onOff },
  ),
  contact_email: rule(
    'notifications',
    'merchant',
    [
      'Contact for failures',
      'We write here when notifications could not be delivered; customers never see this address.',
    ],
    [
      'Contact en cas d’échec',
      'Nous écrivons à cette adresse quand des notifications n’ont pas pu être remises ; les clients ne voient jamais cette adresse.',
    ],
  ),
  allowed_origins: rule(
    'requests',
    'merchant',
    [
      'Your origins',
      'Requests may name only addresses of these websites, such as https://shop.example; without any, every address is accepted.',
    ],
    [
      'Vos origines',
      'Les requêtes ne peuvent indiquer que des adresses de ces sites, par exemple https://shop.example ; sans origine, toutes les adresses sont acceptées.',
    ],
    { isSensitive: true },
  ),
  frame_origins: rule(
    'requests',
    'merchant',
    [
      'Websites that frame the checkout',
      'Pages of these origins, at most 20, may show the checkout in a frame.',
    ],
    [
      'Sites qui intègrent la page de paiement',
      'Les pages de ces origines, 20 au plus, peuvent afficher la page de paiement dans un cadre (iframe).',
    ],
    { isSensitive: true },
  ),
  unsigned_requests: rule(
    'requests',
    'operator',
    ['Requests without a hash', 'The older addresses accept payment requests without a hash.'],
    ['Requêtes sans empreinte', 'Les anciennes adresses acceptent des demandes de paiement sans empreinte.'],
    { isSensitive: true, choices: onOff },
  ),
  signed_status_checks: rule(
    'requests',
    'merchant',
    ['Signed status checks', 'A status check needs a hash.'],
    ['Vérifications signées', 'Une vérification de statut exige une empreinte.'],
    { isSensitive: true, choices: onOff },
  ),
  public_extra: rule(
    'requests',
    'merchant',
    [
      'Public extra fields',
      'The values of these extra_ fields are shown in a status check without a hash; all others are hidden.',
    ],
    [
      'Champs extra publics',
      'Les valeurs de ces champs extra_ figurent dans une vérification sans empreinte ; les autres sont masquées.',
    ],
    { isSensitive: true },
  ),
  errors_as_200: rule(
    'requests',
    'merchant',
    [
      'Errors as HTTP 200',
      'Errors come with HTTP 200 and the same body, for clients that cannot read a 4xx.',
    ],
    [
      'Erreurs en HTTP 200',
      'Les erreurs arrivent en HTTP 200 avec le même corps, pour les logiciels qui ne savent pas lire un 4xx.',
    ],
    { choices: onOff },
  ),
  long_invoice_ids: rule(
    'requests',
    'merchant',
    ['Long invoice ids', 'An invoice id may have 64 characters instead of 25.'],
    ['Numéros de facture longs', 'Un numéro de facture peut avoir 64 caractères au lieu de 25.'],
    { choices: onOff },
  ),
  expiry_minutes: rule(
    'checkout',
    'merchant',
    ['Expiry', 'After so many minutes the checkout page expires, from 5 minutes to 7 days.'],
    ['Expiration', 'La page de paiement expire après ce nombre de minutes, de 5 minutes à 7 jours.'],
  ),
  retry_after_failure: rule(
    'checkout',
    'merchant',
    ['Try again', 'A customer may try again after a failure, until the checkout expires.'],
    ['Nouvel essai', 'Un client peut réessayer après un échec, jusqu’à l’expiration de la page de paiement.'],
    { choices: onOff },
  ),
  reopen_unpaid: rule(
    'checkout',
    'merchant',
    ['Reopening', 'The same request again opens a payment that was cancelled or has expired.'],
    ['Réouverture', 'La même requête rouvre un paiement annulé ou expiré.'],
    { choices: onOff },
  ),
  accent: rule(
    'branding',
    'merchant',
    ['Colour', 'The colour of buttons and links on your pages; white text on it must be readable.'],
    ['Couleur', 'La couleur des boutons et des liens de vos pages ; un texte blanc doit y rester lisible.'],
  ),
  support_phone: rule(
    'branding',
    'merchant',
    ['Phone for customers', 'Customers with a question find this number on your pages.'],
    ['Téléphone pour les clients', 'Les clients qui ont une question trouvent ce numéro sur vos pages.'],
  ),
  support_email: rule(
    'branding',
    'merchant',
    ['Email for customers', 'Customers with a question find this address on your pages.'],
    ['E-mail pour les clients', 'Les clients qui ont une question trouvent cette adresse sur vos pages.'],
  ),
  terms_url: rule(
    'branding',
    'merchant',
    ['Your terms', 'Your pages link to your terms at this address.'],
    ['Vos conditions', 'Vos pages renvoient à vos conditions à cette adresse.'],
  ),
  refund_policy: rule(
    'branding',
    'merchant',
    ['Refund policy', 'Your pages show this line, such as Refunds within 7 days, of at most 60 characters.'],
    [
      'Politique de remboursement',
      'Vos pages affichent cette ligne de 60 caractères au plus, par exemple Remboursement sous 7 jours.',
    ],
  ),
  refunds: rule(
    'refunds',
    'operator',
    ['Refunds', 'You may refund live payments by the API and here; in test mode refunds are always on.'],
    [
      'Remboursements',
      'Vous pouvez rembourser des paiements réels par l’API et ici ; en mode test, c’est toujours possible.',
    ],
    { choices: onOff },
  ),
  refund_daily_limit: rule(
    'refunds',
    'operator',
    ['Refunds a day', 'You may refund at most this sum on one day, in the time zone of the gateway.'],
    [
      'Plafond journalier de remboursement',
      'Vous pouvez rembourser au plus cette somme par jour, dans le fuseau horaire de la passerelle.',
    ],
  ),
  refund_confirm_above: rule(
    'refunds',
    'merchant',
    [
      'Password for refunds above',
      'A user of the dashboard enters his password again to refund more than this of a payment, in one part or several.',
    ],
    [
      'Mot de passe exigé au-dessus de',
      'Un utilisateur du tableau de bord saisit à nouveau son mot de passe pour rembourser plus que cette somme sur un paiement, en une ou plusieurs fois.',
    ],
    { isSensitive: true },
  ),
  refund_approval_above: rule(
    'refunds',
    'merchant',
    [
      'Second person for refunds above',
      'A refund of more than this of a payment on the dashboard, in one part or several, waits until a second user approves it.',
    ],
    [
      'Seconde personne exigée au-dessus de',
      'Sur le tableau de bord, rembourser plus que cette somme sur un paiement, en une ou plusieurs fois, exige l’approbation d’un second utilisateur.',
    ],
    { isSensitive: true },
  ),
  currencies: rule(
    'limits',
    'operator',
    ['Currencies', 'Requests in these currencies are accepted.'],
    ['Devises', 'Les requêtes dans ces devises sont acceptées.'],
  ),
  min_total: rule(
    'limits',
    'operator',
    ['Smallest payment', 'A payment must be at least this amount.'],
    ['Montant minimal', 'Un paiement doit atteindre ce montant.'],
  ),
  max_total: rule(
    'limits',
    'operator',
    ['Largest payment', 'A payment must be at most this amount.'],
    ['Montant maximal', 'Un paiement ne peut pas dépasser ce montant.'],
  ),
  payment_methods: rule(
    'limits',
    'operator',
    ['Payment methods', 'Customers may pay by these methods; without a list, by all.'],
    ['Moyens de paiement', 'Les clients peuvent payer par ces moyens ; sans liste, par tous.'],
  ),
  providers: rule(
    'limits',
    'operator',
    [
      'Provider accounts',
      'These accounts at providers take the payments, best first; without a list, those of the operator.',
    ],
    [
      'Comptes prestataires',
      'Ces comptes chez les prestataires reçoivent les paiements, par ordre de préférence ; sans liste, ceux de l’exploitant.',
    ],
    { isSensitive: true },
  ),
  rate_limit: rule(
    'limits',
    'operator',
    ['Requests a second', 'Each key may send so many requests a second; 0 means no limit.'],
    [
      'Requêtes par seconde',
      'Chaque clé peut envoyer ce nombre de requêtes par seconde ; 0 : pas de limite.',
    ],
  ),
  rate_burst: rule(
    'limits',
    'operator',
    ['Burst of requests', 'So many requests at once are accepted before the limit applies.'],
    ['Rafale de requêtes', 'Ce nombre de requêtes simultanées est accepté avant que la limite s’applique.'],
  ),
  fee: rule(
    'fees',
    'operator',
    ['Fee', 'The price of the gateway for each paid payment.'],
    ['Frais', 'Le prix de la passerelle pour chaque paiement payé.'],
  ),
  provider_fee: rule(
    'fees',
    'operator',
    ["Provider's fee", 'The merchant, the operator or the customer bears the fee of the provider.'],
    ['Frais du prestataire', 'Le marchand, l’exploitant ou le client supporte les frais du prestataire.'],
    { choices: ['merchant', 'operator', 'customer'] },
  ),
  fee_on_refund: rule(
    'fees',
    'operator',
    ['Fee after a refund', 'keep does not return the fee when a payment is refunded; return does.'],
    [
      'Frais après un remboursement',
      'keep conserve les frais quand un paiement est remboursé ; return les restitue.',
    ],
    { choices: ['keep', 'return'] },
  ),
}

export const settingsOfGroup = (group: SettingGroup): SettingName[] =>
  (Object.keys(settingTable) as SettingName[]).filter(name => settingTable[name].group === group)

export const isSensitiveGroup = (group: SettingGroup) =>
  settingsOfGroup(group).some(name => settingTable[name].isSensitive)

// Whether a merchant can change nothing of the group.
export const isDecidedByOperator = (group: SettingGroup) =>
  settingsOfGroup(group).every(name => settingTable[name].decidedBy === 'operator')
