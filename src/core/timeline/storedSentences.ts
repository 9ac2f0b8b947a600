import type { Lang } from '../languages/languages.ts'
import { type Reason, reasons } from '../provider/reason.ts'
import { fill } from '../text.ts'

// Sentences that the gateway writes into events, tasks, refunds, messages and tries. They are stored in English, which
// commands, the API and the log show. A French page shows them in French; texts of providers and people stay as they are.

const frenchReasons: Record<Reason, string> = {
  insufficient_funds: 'Solde insuffisant.',
  declined: 'Le client a refusé sur son téléphone.',
  not_completed: 'Le client a quitté la page de paiement par carte.',
  no_answer: 'Le client n’a pas validé à temps.',
  withdrawn: 'Le client a retiré la demande.',
  limit_reached: 'Un plafond du compte est atteint.',
  no_wallet: 'Le numéro n’a pas de compte mobile money chez cet opérateur.',
  wallet_blocked: 'Le compte mobile money n’est pas actif.',
  wrong_voucher: 'Le code du bon n’a pas été accepté.',
  network_error: 'Le prestataire a perdu sa connexion avec le réseau du client.',
  card_declined: 'La banque du client n’a pas accepté la carte.',
  card_expired: 'La carte a expiré.',
  wrong_cvv: 'Le cryptogramme de la carte était incorrect.',
  not_authenticated: 'L’authentification 3-D Secure a échoué.',
  refused: 'Le prestataire a refusé le paiement.',
  provider_error: 'Le prestataire n’a pas pu exécuter le paiement.',
  account_trouble: 'Le prestataire n’accepte pas le compte de l’exploitant ou ses réglages.',
  reversed: 'Le prestataire a annulé le débit avant de l’annoncer payé.',
  never_arrived: 'La demande n’est jamais parvenue au prestataire.',
  not_sent: 'Le prestataire était injoignable. Rien n’a été envoyé.',
  given_up: 'Une personne a clôturé la tentative après vérification.',
  expired: 'La page de paiement a expiré avant le paiement.',
  cancelled: 'Le client a annulé.',
}

// A {word} stands for any text; {host}, {account} and {id} for one without spaces.
const french: Readonly<Record<string, string>> = {
  // Payments and attempts
  'The money arrived late.': 'L’argent est arrivé en retard.',
  'The payment was already paid.': 'Le paiement était déjà payé.',
  'A second success for one payment.': 'Un second succès pour un même paiement.',
  'The provider reports {charged}; {due} was requested.':
    'Le prestataire annonce {charged} ; {due} étaient demandés.',
  'The provider says paid: {amount} of {currency}, which is not an amount.':
    'Le prestataire annonce payé : {amount} de {currency}, ce qui n’est pas un montant.',
  '{due} was requested.': '{due} étaient demandés.',
  'The charge was reversed before it was reported paid.': 'Le débit a été annulé avant d’être annoncé payé.',
  'The customer may pay again.': 'Le client peut payer de nouveau.',
  'The reference {id} has already paid another attempt.':
    'La référence {id} a déjà payé une autre tentative.',
  'The provider reports paid by the reference {id}, which has already paid {host}.':
    'Le prestataire annonce un paiement par la référence {id}, qui a déjà payé {host}.',
  'The provider refused one of several sendings.': 'Le prestataire a refusé l’un des envois.',
  'The provider does not have this order.': 'Le prestataire n’a pas cette commande.',
  'The provider did not have the order: sent again under the same reference.':
    'Le prestataire n’avait pas la commande : envoyée de nouveau sous la même référence.',
  'The number was wrong.': 'Le numéro était incorrect.',
  'To pay by another method.': 'Pour payer par un autre moyen.',
  'The shop cancelled.': 'La boutique a annulé.',
  'The operator cancelled.': 'L’exploitant a annulé.',
  'The provider reports the refund.': 'Le prestataire annonce le remboursement.',
  'The dispute was resolved.': 'Le litige est réglé.',
  'Storing it failed: {error}': 'L’enregistrement a échoué : {error}',
  'The provider reports {state} for refund {id}.':
    'Le prestataire annonce {state} pour le remboursement {id}.',
  'The provider reports {what}.': 'Le prestataire annonce : {what}.',
  // Refunds
  'The provider has reported no outcome.': 'Le prestataire n’a annoncé aucun résultat.',
  'The provider does not have the refund.': 'Le prestataire n’a pas ce remboursement.',
  'It may still have it: look in its dashboard, then record the outcome.':
    'Il l’a peut-être tout de même : vérifiez dans son tableau de bord, puis enregistrez le résultat.',
  'More went back than the charge allows.': 'Le débit ne permet pas de rembourser autant.',
  'Ask the provider, or agree with the merchant.':
    'Demandez au prestataire, ou convenez-en avec le marchand.',
  'Refund {id}: requested.': 'Remboursement {id} : demandé.',
  'Refund {id}: pending.': 'Remboursement {id} : en cours.',
  'Refund {id}: unknown.': 'Remboursement {id} : résultat inconnu.',
  'Refund {id}: needs_action.': 'Remboursement {id} : à traiter.',
  'Refund {id}: succeeded.': 'Remboursement {id} : effectué.',
  'Refund {id}: failed.': 'Remboursement {id} : échoué.',
  'Refund {id} of {money}.': 'Remboursement {id} de {money}.',
  'The charge was refunded.': 'Le débit a été remboursé.',
  'The provider lists the refund {id} in another amount: {amount}.':
    'Le prestataire indique un autre montant pour le remboursement {id} : {amount}.',
  'The provider needs something from the operator, and does not say what.':
    'Le prestataire attend quelque chose de l’exploitant, sans dire quoi.',
  'The provider gives no reason.': 'Le prestataire n’indique pas de motif.',
  'The provider reports that it refunded another amount than requested: {what}.':
    'Le prestataire annonce avoir remboursé un autre montant que celui demandé : {what}.',
  'We asked about one refund, and the provider reports a success for {named}: {what}.':
    'Nous avons interrogé le prestataire sur un remboursement, et il annonce un succès pour {named} : {what}.',
  'The account {account} is not set up for refunds: pay it back by other means, then record it.':
    'Le compte {account} ne permet pas les remboursements : remboursez par un autre moyen, puis enregistrez-le.',
  'The provider has no refund call for this charge: pay it back by other means, then record it.':
    'Le prestataire ne peut pas rembourser ce débit : remboursez par un autre moyen, puis enregistrez-le.',
  'This process was too slow to send it.': 'Ce processus a été trop lent pour l’envoyer.',
  // Providers
  'The provider asked for a pause.': 'Le prestataire a demandé une pause.',
  'The provider did not answer recent requests.': 'Le prestataire n’a pas répondu aux dernières demandes.',
  'New ones wait.': 'Les nouvelles attendent.',
  'The provider answered failed for an unknown reason: {reason}.':
    'Le prestataire a répondu par un échec, pour une raison inconnue : {reason}.',
  'The provider answered {answer}.': 'Le prestataire a répondu {answer}.',
  'We asked about one order, and the provider says paid for {named}: {what}.':
    'Nous avons interrogé le prestataire sur une commande, et il annonce payé pour {named} : {what}.',
  'The provider asks for input, and does not say which.':
    'Le prestataire demande une saisie, sans dire laquelle.',
  'The address of the payment page is not a URL.': 'L’adresse de la page de paiement n’est pas une URL.',
  'The QR code is empty, too long or not plain text.': 'Le code QR est vide, trop long ou illisible.',
  'The account {account} is not set up.': 'Le compte {account} n’est pas configuré.',
  'The account {account} takes {mode} payments now, and this is a {other} payment.':
    'Le compte {account} prend maintenant des paiements « {mode} », et celui-ci est « {other} ».',
  'The account {account} is in another environment of the provider now.':
    'Le compte {account} est maintenant dans un autre environnement du prestataire.',
  'The account {account} has other credentials now.':
    'Le compte {account} a maintenant d’autres identifiants.',
  'If they are of the same business: {command}.': 'S’ils sont de la même entreprise : {command}.',
  '1 attempt waits for it.': '1 tentative l’attend.',
  '{count} attempts wait for it.': '{count} tentatives l’attendent.',
  'The credentials were confirmed to belong to the same business.':
    'Il est confirmé que les identifiants sont de la même entreprise.',
  'The provider refuses the credentials of {account}: {text}':
    'Le prestataire refuse les identifiants de {account} : {text}',
  'Too many orders are under way.': 'Trop de commandes sont en cours.',
  'Too many refunds are under way.': 'Trop de remboursements sont en cours.',
  'The provider has no further steps.': 'Le prestataire n’a pas d’autre étape.',
  'The rate limit of the provider left no room for the request in time.':
    'La limite de débit du prestataire n’a pas laissé passer la demande à temps.',
  'The answer is about another transaction.': 'La réponse concerne une autre transaction.',
  'The answer is about another refund.': 'La réponse concerne un autre remboursement.',
  'The answer is about another order.': 'La réponse concerne une autre commande.',
  'The transaction has no id.': 'La transaction n’a pas d’identifiant.',
  'Reversed, and its refund is not processed yet.': 'Annulé, et son remboursement n’est pas encore traité.',
  'no answer to the status question': 'pas de réponse à la demande de statut',
  'no address of the payment page': 'pas d’adresse de la page de paiement',
  'no status': 'pas de statut',
  'Paystack wants an email address, and the order has none.':
    'Paystack demande une adresse e-mail, et la commande n’en a pas.',
  'Paystack has no such step.': 'Paystack n’a pas cette étape.',
  'Paystack has the order, and does not find it.': 'Paystack a la commande, et ne la trouve pas.',
  'Paystack does not accept the secret key (HTTP {http}).':
    'Paystack n’accepte pas la clé secrète (HTTP {http}).',
  'Paystack asked for a pause': 'Paystack a demandé une pause',
  'Paystack reversed the transaction.': 'Paystack a annulé la transaction.',
  'Paystack lists a refund of this amount without our note.':
    'Paystack indique un remboursement de ce montant sans notre mention.',
  'Paystack cannot reach the account that paid.': 'Paystack ne peut pas atteindre le compte qui a payé.',
  'Open the refund on the dashboard of Paystack and enter a bank account of the customer.':
    'Ouvrez le remboursement dans le tableau de bord de Paystack et saisissez un compte bancaire du client.',
  'Paystack could not refund it, and returned the money to the balance.':
    'Paystack n’a pas pu le rembourser et a remis l’argent sur le solde.',
  'Paystack could not refund it: {reason}': 'Paystack n’a pas pu le rembourser : {reason}',
  'Paystack refused the refund: {reason}': 'Paystack a refusé le remboursement : {reason}',
  'Top up the balance at Paystack, then retry the refund.':
    'Rechargez le solde chez Paystack, puis relancez le remboursement.',
  'The sandbox could not refund it.': 'L’environnement de test n’a pas pu le rembourser.',
  'The provider needs a bank account of the customer.':
    'Le prestataire a besoin d’un compte bancaire du client.',
  'At a real provider, enter it on its dashboard.':
    'Chez un vrai prestataire, saisissez-le dans son tableau de bord.',
  'MTN could not refund it: {code}.': 'MTN n’a pas pu le rembourser : {code}.',
  'MTN could not refund it.': 'MTN n’a pas pu le rembourser.',
  'The float of Disbursements at MTN is too low, or a limit of the customer’s wallet is reached: MTN does not say which.':
    'La provision de Disbursements chez MTN est trop basse, ou un plafond du compte mobile money du client est atteint : MTN ne précise pas lequel des deux.',
  'A limit of the account for Disbursements at MTN is reached.':
    'Un plafond du compte Disbursements chez MTN est atteint.',
  'The customer’s wallet does not exist at MTN.': 'Le client n’a pas de compte mobile money chez MTN.',
  'The customer’s wallet may not receive money.':
    'Le compte mobile money du client ne peut pas recevoir d’argent.',
  'A limit of the customer’s wallet is reached.': 'Un plafond du compte mobile money du client est atteint.',
  'MTN does not find the charge.': 'MTN ne trouve pas le débit.',
  'MTN refuses the request as invalid.': 'MTN refuse la demande, qu’il juge non valide.',
  'Paystack refunded it.': 'Paystack l’a remboursé.',
  'The refund {id} waits for it.': 'Le remboursement {id} l’attend.',
  'It takes those of Disbursements for refunds.': 'Il prend ceux de Disbursements pour les remboursements.',
  'MTN cannot be reached: {error}.': 'MTN est injoignable : {error}.',
  'MTN refuses calls from our address (HTTP 403).': 'MTN refuse les appels depuis notre adresse (HTTP 403).',
  'MTN does not take the environment {id} for this account.':
    'MTN n’accepte pas l’environnement {id} pour ce compte.',
  'MTN says SUCCESSFUL, and its amount is unreadable: {text}.':
    'MTN annonce SUCCESSFUL, mais le montant est illisible : {text}.',
  'The float of Disbursements at MTN is too low: top it up, then retry the refund.':
    'La provision de Disbursements chez MTN est trop basse : rechargez-la, puis relancez le remboursement.',
  'MTN does not accept the account for Disbursements or its settings.':
    'MTN n’accepte pas le compte Disbursements ou ses réglages.',
  'Ask MTN, then retry the refund.': 'Demandez à MTN, puis relancez le remboursement.',
  'The sandbox refused the request.': 'L’environnement de test a refusé la demande.',
  'The sandbox has no such charge, or it is not paid.':
    'L’environnement de test n’a pas ce débit, ou il n’est pas payé.',
  'The refunds together would exceed the charge.': 'Les remboursements dépasseraient ensemble le débit.',
  'The float at the provider is too low: top it up, then retry the refund.':
    'La provision chez le prestataire est trop basse : rechargez-la, puis relancez le remboursement.',
  'Paystack was not reached: {error}.': 'Paystack n’a pas pu être joint : {error}.',
  'Paystack does not know the secret key.': 'Paystack ne connaît pas la clé secrète.',
  'It may be cut off, or have been replaced at the dashboard.':
    'Elle est peut-être tronquée, ou remplacée dans le tableau de bord.',
  'Paystack refuses our calls.': 'Paystack refuse nos appels.',
  'Calls may be limited to known addresses at its dashboard.':
    'Les appels sont peut-être limités à des adresses connues dans son tableau de bord.',
  'Paystack gave no clear answer: {error}.': 'Paystack n’a pas donné de réponse claire : {error}.',
  'Paystack accepts the secret key, for {mode} payments in GHS.':
    'Paystack accepte la clé secrète, pour les paiements « {mode} » en GHS.',
  'Paystack accepts the secret key, but the account has no balance in GHS: only businesses in Ghana have one.':
    'Paystack accepte la clé secrète, mais le compte n’a pas de solde en GHS : seules les entreprises du Ghana en ont un.',
  'A refund is not readable.': 'Un remboursement est illisible.',
  'The refunds are not a list.': 'Les remboursements ne forment pas une liste.',
  'The list of refunds has no end.': 'La liste des remboursements n’a pas de fin.',
  'A dispute is not readable.': 'Un litige est illisible.',
  'The disputes are not a list.': 'Les litiges ne forment pas une liste.',
  'Paystack says paid: {amount}, which is not an amount.':
    'Paystack annonce payé : {amount}, ce qui n’est pas un montant.',
  'Category: {category}.': 'Catégorie : {category}.',
  'Paystack does not accept the secret key: HTTP {http}':
    'Paystack n’accepte pas la clé secrète : HTTP {http}',
  // Messages to customers
  'It was sent three times, and the result could not be saved.':
    'Il a été envoyé trois fois, et le résultat n’a pas pu être enregistré.',
  'Could not be sent in 24 hours.': 'N’a pas pu être envoyé en 24 heures.',
  'There is no receipt: the payment is not paid.': 'Il n’y a pas de reçu : le paiement n’est pas payé.',
  "The customer's details were removed, so no message can be sent.":
    'Les données du client ont été supprimées : aucun message ne peut être envoyé.',
  'The request had no phone number.': 'La demande n’avait pas de numéro de téléphone.',
  'The request had no email address.': 'La demande n’avait pas d’adresse e-mail.',
  'One is still being sent: wait for its result first.':
    'Un envoi est en cours : attendez d’abord son résultat.',
  'It was sent {count} times, which is the most.': 'Il a été envoyé {count} fois, ce qui est le maximum.',
  'The payment is awaiting_payment by now.': 'Entre-temps, le paiement est en attente.',
  'The payment is paid by now.': 'Entre-temps, le paiement est payé.',
  'The payment is cancelled by now.': 'Entre-temps, le paiement est annulé.',
  'The payment is failed by now.': 'Entre-temps, le paiement a échoué.',
  'There is no such payment.': 'Ce paiement n’existe pas.',
  'The number begins with none of the allowed prefixes.':
    'Le numéro ne commence par aucun des préfixes autorisés.',
  'The recipient has had all the messages of 24 hours: {count}.':
    'Le destinataire a reçu tous ses messages de 24 heures : {count}.',
  'The merchant has sent all the messages of 24 hours: {count}.':
    'Le marchand a envoyé tous ses messages de 24 heures : {count}.',
  'The payment or the exhausted notifications do not exist any more.':
    'Le paiement ou les notifications abandonnées n’existent plus.',
  'The gateway is stopping.': 'La passerelle s’arrête.',
  'Too many messages are in flight.': 'Trop de messages sont en cours d’envoi.',
  'The messenger did not answer.': 'Le service d’envoi n’a pas répondu.',
  'The messenger answered {answer}.': 'Le service d’envoi a répondu {answer}.',
  'Too many messages wait for the SMS centre.': 'Trop de messages attendent le centre SMS.',
  'The SMS centre limits our rate.': 'Le centre SMS limite notre débit.',
  'Too many requests have no response.': 'Trop de demandes sont sans réponse.',
  'The connection is lost.': 'La connexion est perdue.',
  'The SMS centre has unbound.': 'Le centre SMS a mis fin à la session.',
  'The SMS centre does not read our responses.': 'Le centre SMS ne lit pas nos réponses.',
  'The server does not speak SMPP.': 'Le serveur ne parle pas SMPP.',
  'There is no connection to the SMS centre.': 'Il n’y a pas de connexion au centre SMS.',
  'Closed by us.': 'Fermée par nous.',
  'No connection in time.': 'Pas de connexion à temps.',
  'No answer to the bind.': 'Pas de réponse à l’ouverture de session.',
  'The bind failed.': 'L’ouverture de session a échoué.',
  'The SMS centre does not answer any more.': 'Le centre SMS ne répond plus.',
  'The SMS centre lost the bind.': 'Le centre SMS a perdu la session.',
  'No answer from the SMS centre.': 'Pas de réponse du centre SMS.',
  'The SMS centre answered {answer}.': 'Le centre SMS a répondu {answer}.',
  'The mail server did not finish in time.': 'Le serveur de messagerie n’a pas terminé à temps.',
  'This is not an email address.': 'Ce n’est pas une adresse e-mail.',
  'This is not a phone number.': 'Ce n’est pas un numéro de téléphone.',
  'This is too long for an SMS.': 'C’est trop long pour un SMS.',
  'Lost: {reason}': 'Perdu : {reason}',
  // Requests to endpoints and providers
  'sent without the password: the address is not on an origin of the merchant':
    'envoyé sans le mot de passe : l’adresse n’est pas sur une origine du marchand',
  'the connection was refused': 'la connexion a été refusée',
  'the connection was reset': 'la connexion a été coupée',
  'the connection was closed without an answer': 'la connexion a été fermée sans réponse',
  'the connection was closed': 'la connexion a été fermée',
  'the host cannot be reached': 'l’hôte est inaccessible',
  'the network cannot be reached': 'le réseau est inaccessible',
  'the source address cannot be used for it': 'l’adresse source ne convient pas',
  'the host did not answer': 'l’hôte n’a pas répondu',
  'the answer broke off': 'la réponse a été interrompue',
  'the caller withdrew the request before it was sent': 'la demande a été retirée avant son envoi',
  'the answer is not HTTP': 'la réponse n’est pas du HTTP',
  'the headers of the answer are too long': 'les en-têtes de la réponse sont trop longs',
  'the answer switches to another protocol': 'la réponse passe à un autre protocole',
  'the answer did not begin properly in {seconds} s': 'pas de réponse complète en {seconds} s',
  'no connection in {seconds} s': 'pas de connexion en {seconds} s',
  'no answer in {seconds} s': 'pas de réponse en {seconds} s',
  'no connection in time': 'pas de connexion à temps',
  'no answer in time': 'pas de réponse à temps',
  'no token in time': 'pas de jeton à temps',
  'no caller waits for the token': 'le jeton n’est plus attendu',
  'the proxy did not answer with HTTP': 'le proxy n’a pas répondu en HTTP',
  'the proxy answered HTTP {http}': 'le proxy a répondu HTTP {http}',
  'the proxy: the connection was closed': 'le proxy : la connexion a été fermée',
  'the proxy sent more than its headers': 'le proxy a envoyé plus que ses en-têtes',
  'it has no address in the address family of the source address':
    'il n’a pas d’adresse de la famille de l’adresse source',
  '{host} does not exist': '{host} n’existe pas',
  '{host} has no address': '{host} n’a pas d’adresse',
  'the name servers did not answer for {host}': 'les serveurs de noms n’ont pas répondu pour {host}',
  'the name servers failed for {host} ({codes})': 'les serveurs de noms ont échoué pour {host} ({codes})',
  'port {port} is not open; {ports} are': 'le port {port} n’est pas ouvert ; {ports} le sont',
  // Of providers' answers
  'HTTP {http}, and the answer is not a JSON object': 'HTTP {http}, et la réponse n’est pas un objet JSON',
  'HTTP {http}, and the answer is too long or broke off':
    'HTTP {http}, et la réponse est trop longue ou a été interrompue',
  'redirects are not followed': 'les redirections ne sont pas suivies',
  // Why the audit log does not fit a seal
  'the seal itself was changed': 'le sceau lui-même a été modifié',
  'a seal before it is missing': 'un sceau précédent manque',
  'the seal is not the one that was exported': 'le sceau n’est pas celui qui a été exporté',
  '{count} missing after this entry': 'après cette entrée, nombre d’entrées manquantes : {count}',
  'an entry before this one is missing': 'une entrée précédente manque',
  'this entry was inserted after the seal': 'cette entrée a été ajoutée après le sceau',
  'this entry was changed': 'cette entrée a été modifiée',
  'HTTP 401, then: {error}': 'HTTP 401, puis : {error}',
  'HTTP {http}, then {error}': 'HTTP {http}, puis {error}',
}

// Kinds of addresses to which no notification is sent.
const addressKinds: Readonly<Record<string, string>> = {
  'not an IP address': 'une adresse qui n’est pas une adresse IP',
  'an unspecified address': 'une adresse indéterminée',
  'a broadcast address': 'une adresse de diffusion',
  'a multicast address': 'une adresse de multidiffusion',
  'a link-local address': 'une adresse de lien local',
  'a loopback address': 'une adresse de bouclage',
  'an address of a carrier network': 'une adresse du réseau d’un opérateur',
  'a private address': 'une adresse privée',
  'a reserved address': 'une adresse réservée',
  'a discard address': 'une adresse de rejet',
  'an address that hides another one': 'une adresse qui en cache une autre',
  'an address with a zone': 'une adresse avec une zone',
  'an internal address of a cloud': 'une adresse interne d’un cloud',
  'a special address ({text})': 'une adresse spéciale ({text})',
}

const oneWord = new Set(['host', 'account', 'id', 'http', 'port', 'count', 'seconds'])
const special = /[\\^$.*+?()[\]{}|]/g

type Stored = { pattern: RegExp; names: string[]; text: string }

// A sentence begins a text or follows another one, and ends before the next.
function storedSentence(english: string, text: string): Stored {
  const names: string[] = []
  const source = english.split(/(\{\w+\})/).map(part => {
    const name = /^\{(\w+)\}$/.exec(part)?.[1]
    if (name === undefined) return part.replace(special, '\\$&')
    names.push(name)
    return oneWord.has(name) ? '(\\S{1,200}?)' : '(.{1,300}?)'
  })
  return { pattern: new RegExp(`(?<=^|[.:;,] )${source.join('')}(?=$|[ ;,.])`, 'g'), names, text }
}

const codes = Object.keys(reasons) as Reason[]
const sentences: readonly Stored[] = [
  ...codes.map(code => storedSentence(reasons[code], frenchReasons[code])),
  ...Object.entries(french).map(([english, text]) => storedSentence(english, text)),
  ...Object.entries(addressKinds).flatMap(([english, text]) => [
    storedSentence(`{host} leads to ${english}`, `{host} mène à ${text}`),
    storedSentence(`{host} is ${english}`, `{host} est ${text}`),
  ]),
]

// The text in a language, as far as the gateway wrote it.
export function storedText(text: string, lang: Lang): string {
  if (lang === 'en' || text === '') return text
  let translated = text
  for (const { pattern, names, text: template } of sentences)
    translated = translated.replace(pattern, (_, ...found: (string | number)[]) =>
      fill(template, Object.fromEntries(names.map((name, at) => [name, found[at] ?? '']))),
    )
  return translated
}
