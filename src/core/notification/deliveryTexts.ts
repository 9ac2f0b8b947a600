import type { Lang } from '../languages/languages.ts'

// The keys of `results` and `hints` are results of a try.
const en = {
  results: {
    acknowledged: 'acknowledged',
    other_2xx: 'arrived, but not acknowledged',
    redirect: 'redirected, which is not followed',
    refused: 'refused by the endpoint',
    busy: 'the endpoint asked for a pause',
    server_error: 'the endpoint failed with a server error',
    bad_answer: 'the answer was not HTTP',
    timeout: 'no answer in time',
    no_connection: 'no connection',
    tls: 'no secure connection',
    name_not_found: 'no such host',
    forbidden_address: 'not sent: a forbidden address',
  },
  hints: {
    other_2xx:
      'other_2xx: arrived, but only status 200 acknowledges; it is sent again until the endpoint answers 200.',
    redirect:
      'redirect: redirects are not followed; set ipn_url to the final address (https, with or without www, ' +
      'the slash at the end).',
    forbidden_address:
      'forbidden_address: the address is not public, or its port is not allowed, so nothing was sent; for ' +
      'development see TOLLGATE_EGRESS_LOOPBACK, for ports TOLLGATE_EGRESS_PORTS.',
  },
}

type DeliveryTexts = typeof en

const fr: DeliveryTexts = {
  results: {
    acknowledged: 'confirmée',
    other_2xx: 'reçue, mais non confirmée',
    redirect: 'redirigée ; les redirections ne sont pas suivies',
    refused: 'refusée par le serveur',
    busy: 'le serveur a demandé une pause',
    server_error: 'le serveur a répondu par une erreur interne',
    bad_answer: 'la réponse n’était pas du HTTP',
    timeout: 'pas de réponse à temps',
    no_connection: 'pas de connexion',
    tls: 'pas de connexion sécurisée',
    name_not_found: 'hôte inconnu',
    forbidden_address: 'non envoyée : adresse interdite',
  },
  hints: {
    other_2xx:
      'other_2xx : reçue, mais seul le statut 200 vaut confirmation ; elle est renvoyée jusqu’à ce que le serveur réponde 200.',
    redirect:
      'redirect : les redirections ne sont pas suivies ; indiquez dans ipn_url l’adresse finale (https, avec ou ' +
      'sans www, la barre à la fin).',
    forbidden_address:
      'forbidden_address : l’adresse n’est pas publique, ou son port n’est pas autorisé, rien n’a donc été envoyé ; ' +
      'pour le développement, voyez TOLLGATE_EGRESS_LOOPBACK, pour les ports TOLLGATE_EGRESS_PORTS.',
  },
}

export const deliveryTexts: Record<Lang, DeliveryTexts> = { en, fr }
