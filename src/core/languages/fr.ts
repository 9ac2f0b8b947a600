import type { Texts } from './en.ts'

// Le français. L’espace devant « : » et « ? » est insécable.
export const fr: Texts = {
  name: 'Français',
  locale: 'fr-FR',
  dir: 'ltr',

  frame: {
    test: 'Mode test : aucun argent réel ne circule',
    copy: 'Copie du système de paiement : aucun paiement réel n’est accepté ici',
    invoice: 'Facture',
    left: 'encore {time}',
    more: 'Plus',
    less: 'Moins',
    reference: 'Référence {reference}',
    request: 'Requête {request}',
    secured: 'Sécurisé par Tollgate',
    language: 'Langue',
    hours: '{count} heures',
    days: '{count} jours',
    lost: 'Connexion perdue. Nous réessayons automatiquement.',
    back: 'Connexion rétablie.',
    one_moment: 'Un instant',
  },

  site: {
    pages: 'Pages',
    menu: 'Menu',
    shop: 'Boutique',
    phone: 'Téléphone de test',
    inbox: 'Messages',
    support: 'Assistance',
    docs: 'Documentation',
  },

  items: { title: 'Ce que vous payez', times: '{quantity} ×', total: 'Total' },

  branding: {
    questions: 'Une question ?',
    terms: 'Conditions',
    ask: 'Une question ? Adressez-vous à {shop} en donnant la référence {reference}.',
  },

  choose: {
    title: 'Payer {amount}',
    pay_to: 'Payer {amount} à {shop}',
    how: 'Comment souhaitez-vous payer ?',
    pay: 'Payer {amount}',
    cancel: 'Annuler ce paiement',
    optional: '(facultatif)',
    next_prompt: 'Votre téléphone vous demandera de valider {amount}.',
    next_redirect:
      'Vous saisirez ensuite les données de votre carte sur la page de notre partenaire. Nous ne voyons jamais son numéro.',
    next_qr: 'Nous vous montrerons ensuite un code à scanner.',
    on_file: 'Payer avec le {number}',
    other_number: 'Utiliser un autre numéro',
    keep_number: 'Laissez ce champ vide pour payer avec le {number}.',
    guess_same: 'Sans doute {method}. Sinon, changez ci-dessus.',
    guess_other: 'Ce numéro semble plutôt être un numéro {method}.',
    guess_switch: 'Payer plutôt avec {method}',
    again_in: 'Vous pourrez réessayer dans {seconds} secondes.',
    none_available: 'Aucun moyen de paiement ne répond en ce moment. Patientez un instant.',
    phone_title: 'Plutôt sur votre téléphone ?',
    phone_text: 'Scannez pour y continuer. Cette page suivra.',
  },

  names: { card: 'Carte' },

  method_notes: {
    redirect: 'chez notre partenaire',
    qr: 'avec votre appli bancaire',
    card: 'Visa ou Mastercard',
  },

  health: {
    degraded: '{method} est lent en ce moment',
    down: '{method} ne répond pas en ce moment',
  },

  fields: {
    phone: { label: 'Votre numéro mobile money', hint: '{example}, {code}... ou +{code}...' },
    voucher_code: {
      label: 'Code du bon',
      hint: 'Composez le *110# sur votre téléphone Telecel et choisissez de générer un bon (« voucher »). Vous recevrez un code à saisir ici.',
    },
    email: { label: 'Votre adresse e-mail', hint: 'Le prestataire de paiement la demande.' },
    otp: { label: 'Le code qui vous a été envoyé', hint: 'Il est dans un message sur votre téléphone.' },
    birthday: { label: 'Votre date de naissance' },
  },

  faults: {
    title: 'Un point à vérifier',
    title_many: '{count} points à vérifier',
    in_title: 'Vérifiez le formulaire',
    no_method: 'Choisissez comment vous souhaitez payer.',
    method_gone: 'Ce moyen de paiement n’est pas disponible pour le moment. Choisissez-en un autre.',
    missing: '{label} : veuillez remplir ce champ.',
    not_a_phone: '{label} : ce numéro n’est pas complet. Écrivez-le ainsi : {example}.',
    not_a_wallet:
      'Ce numéro ne peut pas avoir de compte {method}. Utilisez un numéro mobile ({country}), par exemple {example}.',
    not_digits: '{label} : utilisez uniquement des chiffres.',
    too_long: '{label} : le texte est trop long.',
    not_an_email: '{label} : ce n’est pas une adresse e-mail. Écrivez-la ainsi : ama@example.com.',
    not_a_date: '{label} : ce n’est pas une date.',
    not_text: '{label} : utilisez uniquement des lettres et des chiffres.',
    too_soon: 'Attendez {seconds} secondes, puis réessayez.',
    too_many: 'Trop d’essais ont échoué. Attendez {minutes} min, ou payez autrement.',
  },

  step: {
    title: 'Encore une étape',
    text: '{method} en a besoin pour poursuivre votre paiement de {amount}.',
    provider_text: 'Message de {method} :',
    again: '{method} vous le demande à nouveau. Vérifiez votre saisie.',
    tries_left: 'Essais restants : {count}.',
    wait: 'Patientez un peu : vous pourrez réessayer dans {seconds} secondes.',
    none_left: 'Plus d’essai possible pour cette demande',
    none_left_text:
      'Pour votre sécurité, vous ne pouvez plus rien saisir pour cette demande. {method} n’a pas encore dit si elle a été payée. Si c’est le cas, le paiement est valable : ne payez pas de nouveau avant d’avoir la réponse.',
    none_left_then:
      'Dès que cette demande sera terminée, vous pourrez choisir à nouveau comment payer. Cette page se mettra à jour toute seule.',
    go_on: 'Continuer',
    never_pin:
      'Ne saisissez jamais ici le code secret de votre compte mobile money. Seul votre téléphone peut le demander.',
  },

  wait: {
    prompt: 'Saisissez votre code secret sur votre téléphone',
    asks: '{method} demande au {number} de payer {amount} à {shop}.',
    asks_somewhere: '{method} demande à votre téléphone de payer {amount} à {shop}.',
    never_pin: 'Ne donnez jamais votre code secret à personne.',
    message: 'Payer {amount} à {shop} ? Saisissez votre code secret pour valider.',
    dial: 'Composez le {code} sur votre téléphone.',
    dial_steps: 'Composez le {code}, puis {steps}.',
    dial_unknown: 'Ouvrez le menu mobile money sur votre téléphone et cherchez les paiements à valider.',
    redirect: 'Continuez sur la page de paiement par carte',
    redirect_text: 'Payez sur la page de notre partenaire, puis revenez ici.',
    forward: 'La page de paiement par carte s’ouvre',
    confirming:
      'Vous y avez déjà payé ? Alors nous vérifions auprès du prestataire. Ne payez pas une deuxième fois.',
    to_card: 'Continuer vers le paiement par carte',
    qr: 'Scannez pour payer',
    qr_text:
      'Scannez avec l’application de votre banque ou de votre compte mobile money, et vérifiez qu’elle indique {amount}.',
    bank: 'Nous interrogeons votre banque',
    bank_text:
      'Nous ne connaissons pas encore le résultat. Ne payez pas une deuxième fois : nous continuons à vérifier.',
    ends: {
      prompt: 'Temps restant',
      redirect: 'La page de paiement par carte se ferme dans',
      qr: 'Le code expire dans',
    },
    over: {
      prompt: 'La demande a expiré. Nous demandons à {method} si elle a été validée.',
      redirect:
        'La page de paiement par carte est fermée. Nous demandons à votre banque si vous y avez payé.',
      qr: 'Le code a expiré. Nous demandons à {method} s’il a été payé.',
    },
    counts: {
      prompt:
        'Si la première demande est validée quand même, elle sera prise en compte et rien d’autre ne sera prélevé.',
      redirect:
        'Si vous payez quand même par carte sur cette page, le paiement sera pris en compte et rien d’autre ne sera prélevé.',
      qr: 'Si vous payez quand même avec ce code, le paiement sera pris en compte et rien d’autre ne sera prélevé.',
    },
    ending: 'L’ancienne demande se termine',
    ending_text:
      'Nous mettons fin à la demande envoyée au {number}. Si vous la validez sur ce téléphone, elle sera prise en compte.',
    ending_somewhere:
      'Nous mettons fin à l’ancienne demande. Si vous la validez quand même, elle sera prise en compte.',
    go_on: 'Sinon, vous pourrez continuer vers {time}. Cette page se mettra à jour toute seule.',
    go_on_then: 'Si ce n’est pas le cas, vous pourrez continuer. Cette page se mettra à jour toute seule.',
    old_ended: 'L’ancienne demande est terminée. Rien n’a été prélevé.',
    qr_here:
      'L’application est sur ce téléphone ? Enregistrez le code. Ouvrez ensuite l’application de votre banque ou de votre compte mobile money et choisissez de scanner depuis la galerie.',
    qr_save: 'Enregistrer le code',
    unknown: 'Nous interrogeons {method}',
    unknown_text:
      'Nous n’avons pas encore de réponse de {method}. Ne payez pas une deuxième fois : nous continuons à vérifier.',
    may_leave: 'Vous pouvez fermer cette page. Nous continuons à vérifier.',
    may_leave_text: 'Vous pouvez fermer cette page. Vous recevrez un SMS dès que le paiement sera effectué.',
    back: 'Retourner chez {shop}',
    check_again: 'Vérifier à nouveau',
    test_phone: 'Ouvrir le téléphone de test',
    test_phone_title: 'Téléphone de test',
    test_phone_text: 'N’importe quel code valide le paiement ; Annuler le refuse.',
  },

  problem: {
    title: 'Un problème ?',
    no_message: { title: 'Je n’ai reçu aucun message', button: 'Appeler' },
    number: {
      title: 'Mauvais numéro',
      text: 'Nous enverrons la demande à un autre téléphone.',
      button: 'Changer',
      in_summary: 'Mauvais numéro',
    },
    method: { title: 'Payer autrement', button: 'Choisir', in_summary: 'payer autrement' },
    unfinished: {
      title: 'Je n’ai pas terminé le paiement',
      text: 'Rouvrez la page de paiement par carte et payez.',
      button: 'Continuer',
      in_summary: 'pas terminé',
    },
    check: {
      title: 'J’ai déjà payé',
      text: 'La réponse peut prendre une minute. Ne payez pas une deuxième fois.',
      button: 'Vérifier',
      in_summary: 'vérifier',
    },
    cancel: {
      title: 'Ne pas payer',
      prompt: 'Rien n’est prélevé si vous ne saisissez pas votre code secret.',
      redirect: 'Rien n’est prélevé si vous ne payez pas par carte sur cette page.',
      qr: 'Rien n’est prélevé si vous ne payez pas avec le code.',
      unclear: 'Si l’argent arrive malgré tout, le paiement est considéré comme effectué.',
      button: 'Annuler',
      in_summary: 'annuler',
    },
  },

  disputed: {
    title: 'Nous vérifions votre paiement',
    text: 'La réponse reçue ne correspond pas à ce qui était demandé. Une personne examine votre paiement.',
    advice: 'Ne payez pas une deuxième fois. Conservez la référence : {reference}',
  },

  failed: {
    title: 'Non payé',
    nothing_taken: 'Rien n’a été prélevé.',
    again: 'Réessayer',
    other: 'Payer autrement',
    leave: 'Retourner chez {shop} sans payer',
    over: 'Vous ne pouvez plus réessayer ici. Retournez chez {shop} et recommencez.',
  },

  reasons: {
    insufficient_funds: {
      title: 'Non payé : le solde du compte est insuffisant',
      advice: 'Rechargez votre compte et réessayez, ou payez autrement.',
    },
    declined: {
      title: 'Non payé : la demande a été refusée sur le téléphone',
      advice: 'Si ce n’est pas ce que vous vouliez, réessayez.',
    },
    not_completed: {
      title: 'Non payé : vous avez quitté la page de paiement par carte',
      advice: 'Réessayez, ou payez autrement.',
    },
    no_answer: {
      title: 'Non payé : la demande n’a pas été validée à temps',
      advice: 'Gardez votre téléphone à portée de main et réessayez.',
    },
    withdrawn: {
      title: 'Non payé : la demande a été retirée',
      advice: 'Réessayez, ou payez autrement.',
    },
    limit_reached: {
      title: 'Non payé : un plafond du compte est atteint',
      advice:
        'Payez autrement, ou renseignez-vous sur votre plafond auprès de votre opérateur ou de votre banque.',
    },
    no_wallet: {
      title: 'Non payé : ce numéro n’a pas de compte mobile money chez cet opérateur',
      advice: 'Vérifiez le numéro et l’opérateur.',
    },
    wallet_blocked: {
      title: 'Non payé : le compte mobile money n’est pas actif',
      advice: 'Payez autrement, ou adressez-vous à votre opérateur.',
    },
    wrong_voucher: {
      title: 'Non payé : le code du bon n’a pas été accepté',
      advice: 'Demandez un nouveau code et réessayez.',
    },
    network_error: {
      title: 'Non payé : il y a eu un problème de réseau',
      advice: 'Réessayez dans un instant, ou payez autrement.',
    },
    card_declined: {
      title: 'Non payé : votre banque n’a pas accepté la carte',
      advice: 'Essayez une autre carte, ou payez autrement.',
    },
    card_expired: {
      title: 'Non payé : la carte a expiré',
      advice: 'Essayez une autre carte, ou payez autrement.',
    },
    wrong_cvv: {
      title: 'Non payé : le code de sécurité n’est pas le bon',
      advice: 'Ce sont les trois chiffres au dos de la carte. Réessayez.',
    },
    not_authenticated: {
      title: 'Non payé : la vérification de votre banque n’a pas abouti',
      advice: 'Réessayez avec le code que votre banque vous envoie.',
    },
    refused: { title: 'Non payé : le prestataire a refusé', advice: 'Réessayez, ou payez autrement.' },
    provider_error: {
      title: 'Non payé : le prestataire n’a pas pu exécuter le paiement',
      advice: 'Vérifiez que le solde de votre compte suffit et réessayez, ou payez autrement.',
    },
    account_trouble: {
      title: 'Non payé : ce moyen de paiement est hors service',
      advice: 'Vous n’y êtes pour rien. Payez autrement, ou réessayez plus tard.',
    },
    reversed: {
      title: 'Non payé : le débit a été annulé',
      advice: 'L’argent vous sera rendu. Réessayez, ou payez autrement.',
    },
    never_arrived: {
      title: 'Non payé : la demande n’est pas passée',
      advice: 'Réessayez, ou payez autrement.',
    },
    not_sent: {
      title: 'Non payé : le prestataire est injoignable',
      advice: 'Rien ne lui a été envoyé. Réessayez, ou payez autrement.',
    },
    given_up: {
      title: 'Non payé : cet essai a été clôturé',
      advice: 'Notre équipe a examiné ce paiement. Conservez la référence en cas de question.',
    },
    expired: {
      title: 'Non payé : le délai de paiement est écoulé',
      advice: 'Retournez à la boutique et recommencez.',
    },
    cancelled: {
      title: 'Non payé : le paiement a été annulé',
      advice: 'Retournez à la boutique et recommencez.',
    },
  },

  cancel: {
    title: 'Annuler ce paiement ?',
    text: 'Rien n’a été prélevé. Vous pouvez recommencer chez {shop}.',
    unresolved:
      'Une demande est encore en cours. Si l’argent arrive malgré tout, le paiement est considéré comme effectué et {shop} en est informé.',
    yes: 'Oui, annuler',
    no: 'Non, revenir',
  },

  cancelled: {
    title: 'Annulé',
    text: 'Vous avez annulé ce paiement. Rien n’a été prélevé.',
    requested:
      'Vous avez annulé ce paiement. Si l’argent arrive malgré tout, le paiement est considéré comme effectué et {shop} en est informé.',
  },

  expired: {
    title: 'Le délai de paiement est écoulé',
    text: 'Rien n’a été débité. Retournez chez {shop} et recommencez.',
  },

  closed: {
    title: 'Vous ne pouvez pas payer ici pour le moment',
    text: '{shop} n’accepte pas de paiement en ce moment. Rien n’a été débité.',
  },

  no_methods: {
    title: 'Vous ne pouvez pas encore payer ici',
    text: '{shop} a demandé ce paiement et il est bien enregistré, mais aucun moyen de paiement n’est configuré sur cette passerelle. Rien n’a été débité.',
  },

  paid: {
    title: 'Payé',
    to: 'Payé à {shop}',
    back: 'Retour chez {shop}',
    stay: 'Rester et voir le reçu',
    receipt_to: 'Le reçu est envoyé à {where}.',
    see: 'Voir le reçu',
  },

  leave: {
    soon: 'Nous vous ramenons chez {shop}, à l’adresse {host}',
    to: 'Continuer vers {host}',
    leads: 'Ce lien mène à {host}.',
  },

  receipt: {
    title: 'Reçu',
    test: 'TEST : aucun argent réel n’a circulé',
    merchant: 'Payé à',
    amount: 'Montant',
    description: 'Objet',
    invoice: 'Facture',
    paid_with: 'Payé avec',
    when: 'Date',
    returned: 'Remboursé',
    reference: 'Référence',
    provider_reference: 'Réf. prestataire',
    print: 'Imprimer',
    copy: 'Copier la référence',
    copied: 'Référence copiée',
    scan: 'Scannez pour ouvrir ce reçu',
    back: 'Retour au paiement',
    removed:
      'Vos données personnelles ont été supprimées le {date}, {days} jours après la fin de ce paiement.',
  },

  test: {
    title: 'Numéros et cartes de test',
    try: 'Essayer un résultat',
    endings: {
      paid: 'Payé',
      declined: 'Refusé',
      no_money: 'Solde insuffisant',
      no_answer: 'Sans réponse',
      late: 'Paiement tardif',
      wrong_amount: 'Mauvais montant',
    },
    wallets: 'Numéro mobile money, trois derniers chiffres',
    cards: 'Carte, toute date future, code de sécurité 123',
    totals: 'Montant, avec n’importe quel numéro',
    voucher: 'Pour le code du bon, tapez 6 chiffres au choix ; 000000 n’est pas accepté.',
    by_wallet: {
      '000, 001': 'Validé automatiquement : payé',
      '002': 'Échec : solde insuffisant',
      '003': 'Échec : refusé sur le téléphone',
      '004': 'Personne ne répond : échec après 10 secondes',
      '005': 'Pas de réponse claire d’abord, puis payé',
      '006': 'Payé après 20 secondes, sans notification du prestataire',
      '007': 'Échec, puis paiement tardif, après 15 secondes',
      '008': 'Payé, et signalé cinq fois',
      '009': 'Un autre montant est signalé : une personne doit vérifier',
      '...': 'Tout autre numéro attend votre réponse sur le téléphone de test',
    },
    by_card: {
      '4111 1111 1111 1111': 'Payé',
      '5555 5555 5555 4444': 'Payé',
      '4242 4242 4242 4242': 'Payé après un code (000000 échoue)',
      '4000 0000 0000 0002': 'Échec : la banque refuse',
      '5105 1051 0510 5100': 'Échec : solde insuffisant',
      '4000 0000 0000 0069': 'Échec : la carte a expiré',
      '4000 0000 0000 0127': 'Échec : mauvais code de sécurité',
      '4000 0000 0000 0119': 'Pas de réponse claire d’abord, puis payé',
    },
    by_total: {
      '0.01': 'Pas de réponse à temps',
      '0.02': 'Erreur de réseau',
      '0.03': 'Solde insuffisant',
      '0.04': 'Refusé sur le téléphone',
      '0.05': 'Payé après un délai',
    },
  },

  announcements: {
    choose: 'Choisissez comment payer.',
    step: 'Une étape de plus est nécessaire.',
    wait: 'Nous attendons la réponse.',
    disputed: 'Nous vérifions votre paiement. Ne payez pas une deuxième fois.',
    failed: 'Non payé.',
    over: 'Non payé.',
    expired: 'Le délai de paiement est écoulé.',
    cancelled: 'Annulé.',
    paid: 'Payé.',
    closed: 'Vous ne pouvez pas payer ici pour le moment.',
  },

  home: {
    title: 'Une passerelle de paiement',
    text: 'Les boutiques envoient ici leurs clients pour payer par mobile money, par carte ou par code QR. Chaque paiement a sa propre page, accessible uniquement par son lien.',
    payer: 'Vous voulez payer ?',
    payer_text:
      'Ouvrez le lien que la boutique vous a donné. Si vous ne le trouvez plus, demandez-le de nouveau à la boutique.',
    shop: 'Vous créez une boutique ?',
    shop_text: 'Comment demander un paiement :',
    docs: 'la documentation',
    openapi: 'la description OpenAPI',
    keys: 'Vos clés viennent de l’exploitant de cette passerelle : adressez-vous à l’entreprise qui vous a donné cette adresse.',
    test: 'Vous faites un essai ?',
    test_text: 'En mode test, aucun argent réel ne circule :',
    phone: 'le téléphone de test',
    inbox: 'les e-mails et SMS',
    support: 'l’assistance',
    go: 'Aller à la page d’accueil',
  },

  trouble: {
    nothing_here: 'Il n’y a rien à cette adresse',
    nothing_here_text:
      'Vérifiez que l’adresse est complète. Si vous veniez payer, ouvrez le lien que la boutique vous a donné. Rien n’a été débité.',
    unreachable: 'Nous ne pouvons pas afficher votre paiement pour le moment',
    unreachable_text:
      'Notre base de données est momentanément indisponible. Votre paiement est en sécurité. Rechargez cette page dans un instant.',
    copy: 'Cette page ne peut pas recevoir votre paiement',
    copy_text:
      'Elle appartient à une copie du système de paiement. Rien n’a été débité. Retournez à la boutique et ouvrez le paiement depuis celle-ci.',
    busy: 'Un instant, s’il vous plaît',
    busy_text:
      'De très nombreuses pages sont ouvertes depuis votre réseau. Rien n’a changé pour votre paiement. Rechargez cette page dans quelques secondes.',
    too_busy_text:
      'Nous sommes trop occupés pour lire ce que vous avez envoyé. Rien n’a changé pour votre paiement. Rechargez cette page dans quelques secondes.',
    no_payment: 'Il n’y a pas de paiement à cette adresse',
    no_payment_text:
      'Vérifiez que le lien est complet, ou retournez à la boutique et recommencez. Rien n’a été débité.',
    elsewhere: 'Cette demande ne vient pas de notre page',
    elsewhere_text:
      'Par sécurité, nous n’avons rien fait. Ouvrez la page du paiement et appuyez sur le bouton qui s’y trouve.',
    open: 'Ouvrir le paiement',
    broken: 'Un problème est survenu de notre côté',
    broken_text:
      'Rechargez cette page pour voir où en est votre paiement. Si vous aviez appuyé sur le bouton pour payer, vérifiez d’abord, et ne payez pas une deuxième fois.',
    unreadable: 'Nous n’avons pas pu lire ce qui a été envoyé',
    unreadable_text: 'Rien n’a été modifié et rien n’a été débité. Revenez en arrière et réessayez.',
    cannot_start: 'Ce paiement ne peut pas commencer',
    cannot_start_text:
      'La boutique a envoyé des données que nous ne pouvons pas accepter. Rien n’a été débité. Revenez en arrière et transmettez ceci à la boutique :',
  },

  // L’espace devant « : » est insécable, sauf dans un SMS, qui n’en a pas de telle.
  messages: {
    unnamed_shop: 'la boutique',

    sms: {
      paid: [
        'Payé {amount} à {shop}. Réf. {reference}. Reçu : {link}',
        'Payé {amount} à {shop}. Réf. {reference} {link}',
        'Payé {amount} à {shop} {reference} {link}',
        'Payé {amount} à {shop}. Réf. {reference}',
      ],
      failed: [
        'Non payé : {amount} à {shop}. Réf. {reference}. Détails : {link}',
        'Non payé : {amount} à {shop}. Réf. {reference} {link}',
        'Non payé {amount} à {shop} {reference} {link}',
        'Non payé : {amount} à {shop}. Réf. {reference}',
      ],
      cancelled: [
        'Annulé : {amount} à {shop}. Réf. {reference}. Détails : {link}',
        'Annulé : {amount} à {shop}. Réf. {reference} {link}',
        'Annulé {amount} à {shop} {reference} {link}',
        'Annulé : {amount} à {shop}. Réf. {reference}',
      ],
      refunded: [
        'Remboursé {amount} par {shop}. Réf. {reference}. Reçu : {link}',
        'Remboursé {amount} par {shop}. Réf. {reference} {link}',
        'Remboursé {amount} par {shop} {reference} {link}',
        'Remboursé {amount} par {shop}. Réf. {reference}',
      ],
    },

    subjects: {
      paid: 'Paiement effectué : {amount} à {shop}',
      failed: 'Paiement non abouti : {amount} à {shop}',
      cancelled: 'Paiement annulé : {amount} à {shop}',
      refunded: 'Remboursement : {amount} par {shop}',
    },

    mail: {
      test: 'TEST : aucun argent réel n’a circulé',
      paid: 'Payé',
      paid_text: 'Votre paiement à {shop} a bien été effectué.',
      cancelled: 'Annulé',
      cancelled_text: 'Ce paiement a été annulé.',
      refunded: 'Remboursé',
      refunded_text: '{shop} vous a remboursé ce montant.',
      refunded_when:
        'Il vous est reversé par le moyen de paiement utilisé. Votre banque peut mettre quelques jours à l’afficher.',
      nothing_taken: 'Rien n’a été prélevé.',
      late: 'Si l’argent arrive malgré tout, le paiement est considéré comme effectué et {shop} en est informé.',
      try_again:
        'Tant que le paiement est ouvert, vous pouvez réessayer ou payer autrement sur la page du paiement.',
      start_again: 'Si vous souhaitez toujours payer, retournez chez {shop} et recommencez.',
      keep_reference: 'Notre équipe a examiné ce paiement. Conservez la référence en cas de question.',
      see_receipt: 'Voir le reçu',
      see_payment: 'Voir le paiement',
      why_you: 'Vous recevez ce message parce que cette adresse a été indiquée lors du paiement.',
      pin: 'Ne donnez jamais votre code secret (PIN) : nous ne le demandons pas.',
      secured: 'Sécurisé par Tollgate',
    },

    facts: {
      paid_to: 'Payé à',
      to: 'Bénéficiaire',
      description: 'Objet',
      invoice: 'Facture',
      paid_with: 'Payé avec',
      tried_with: 'Moyen de paiement',
      returned: 'Remboursé',
      returned_by: 'Remboursé par',
      returned_to: 'Remboursé sur',
      when: 'Date',
      reference: 'Référence',
    },
  },

  sandbox: {
    banner: 'Prestataire simulé : aucun argent réel ne circule',
    back: 'Retour au paiement',
    asked: '{shop} a demandé {amount}.',
    lost: 'Il n’y a rien à payer à cette adresse',
    lost_text: 'Vérifiez que le lien est complet, ou recommencez depuis la page de paiement.',
    broken: 'Cette page ne fonctionne pas pour le moment',
    broken_text:
      'Le prestataire simulé n’a pas accès à sa base de données. Rien n’a changé. Rechargez la page dans un instant.',
    too_large: 'C’était trop long',
    too_large_text:
      'Le formulaire est plus long que ce que l’on peut saisir. Rien n’a changé. Revenez en arrière et réessayez.',

    phone: {
      title: 'Téléphone de test',
      text: 'Saisissez un numéro mobile money. Vous verrez ses demandes en attente des 10 dernières minutes.',
      all_text:
        'Vous voyez toutes les demandes en attente des 10 dernières minutes. Saisissez un numéro mobile money pour ne voir que les siennes.',
      rule: 'N’importe quel code valide le paiement ; Annuler le refuse.',
      not_real: 'Ne saisissez jamais un vrai code secret ici.',
      idle: 'Aucune demande',
      number: 'Numéro mobile money',
      wrong: 'Ce n’est pas un numéro de téléphone. Écrivez-le ainsi : 024 123 4567.',
      in_title: 'Numéro incorrect : téléphone de test',
      show: 'Voir les demandes',
      none: 'Aucune demande pour ce numéro',
      none_at_all: 'Aucune demande en attente',
      none_text:
        'Les numéros qui se terminent par 000 à 009 répondent automatiquement. Tout autre numéro attend votre réponse ici.',
      waiting: 'En attente de votre réponse',
    },

    prompt: {
      asks: '{shop} demande {amount}',
      in_title: 'Le code manque : {title}',
      message: 'Payer {amount} à {shop} ? Saisissez votre code secret pour valider.',
      wallet: 'Compte',
      note: 'Objet',
      pin: 'Code de test, chiffres au choix',
      missing: 'Saisissez un code. N’importe quels chiffres conviennent.',
      approve: 'Envoyer',
      decline: 'Annuler',
      paid: 'Vous avez payé {amount} à {shop}. Transaction {id}.',
    },

    endings: {
      pending: 'En attente',
      pending_text: 'Ce compte de test répond automatiquement. Vous n’avez rien à faire ici.',
      approved: 'Validé',
      approved_text: 'Aucun argent réel n’a circulé.',
      declined: 'Refusé',
      declined_text: 'Rien n’a été prélevé.',
      withdrawn: 'Demande retirée',
      withdrawn_text: 'La demande a été retirée sur la page de paiement. Rien n’a été prélevé.',
      too_late: 'Trop tard',
      too_late_text: 'La demande est restée sans réponse. Rien n’a été prélevé.',
      not_paid: 'Non payé',
      not_paid_text: 'Le paiement a été refusé. Rien n’a été prélevé.',
    },

    card: {
      test: 'Une page de carte simulée. Ne saisissez jamais une vraie carte ici.',
      pay: 'Paiement à {shop} {amount}',
      number: 'Numéro de carte',
      expiry: 'Date d’expiration, MM/AA',
      cvv: 'CVV',
      name: 'Nom sur la carte (facultatif)',
      button: 'Payer {amount}',
      check: 'Vérifiez la carte',
      in_title: 'Vérifiez la carte : {title}',
      cancel: 'Annuler et revenir',
      used: 'Cette page a déjà servi, ou son délai est écoulé. Le résultat est sur la page de paiement.',
      paid: 'Payé',
      at_bank: 'Transmis à la banque',
    },

    test_refunds: 'Remboursements selon le montant',
    test_refunds_text:
      'Le montant du remboursement d’un paiement de test décide de la suite. Tout autre montant réussit.',
    by_refund: {
      delayed: 'réussit après 15 secondes',
      fails: 'échoue',
      needs_action: 'demande une action, et en reste là',
      needs_action_then_succeeds: 'demande une action, puis réussit',
      error_then_succeeds: 'la réponse est une erreur, puis réussit',
      silent_then_succeeds: 'aucune réponse, puis réussit',
      cut_then_fails: 'la réponse est perdue, puis échoue',
      fails_then_succeeds: 'échoue, puis réussit',
      other_amount: 'un autre montant est remboursé : quelqu’un doit vérifier',
      stays_pending: 'reste en attente',
      no_float: 'refusé : le compte du prestataire est vide',
      told_often: 'réussit, avec quatre rappels',
    },

    test_cards: 'Cartes de test',
    test_cards_text: 'Toute date future, CVV 123. Un autre CVV est refusé avec le code 82.',
    by_card: {
      card_approved: 'payé',
      '3ds': 'payé après une étape 3-D Secure',
      card_not_honoured: 'non payé : 05, refus de la banque',
      card_no_funds: 'non payé : 51, solde insuffisant',
      card_expired: 'non payé : 54, carte expirée',
      card_wrong_cvv: 'non payé : 82, mauvais CVV',
      card_error_then_paid: 'd’abord 96, erreur du système, puis payé',
    },

    card_faults: {
      no_number: 'Le numéro de carte manque.',
      not_digits: 'Un numéro de carte n’a que des chiffres.',
      length: 'Un numéro de carte a de 12 à 19 chiffres.',
      digit: 'Un chiffre est faux. Comparez le numéro avec la carte.',
      no_test_card: 'Ce n’est pas une carte de test. Prenez-en une dans la liste.',
      expiry: 'Écrivez le mois et l’année ainsi : 09/30.',
      over: 'Cette date est passée. Toute date future convient.',
      cvv: 'Le CVV, ce sont les 3 chiffres au dos de la carte.',
      name: 'Le nom a plus de 100 caractères.',
    },

    secure: {
      title: 'Est-ce bien vous ?',
      page: '3-D Secure, {amount}',
      text: 'Votre banque demande le code qu’elle vous a envoyé, pour payer {amount} à {shop} avec {card}.',
      nothing_sent: 'Rien n’a été envoyé : tout code est accepté ici, 000000 échoue.',
      code: 'Code',
      confirm: 'Confirmer',
      missing: 'Saisissez un code.',
      in_title: 'Le code manque : {title}',
    },
  },
}
