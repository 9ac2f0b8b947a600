// What a messenger speaks: a way to reach a person. A new one is one new file in `messengers/`, whose default export
// makes it from its settings, or nothing without them.
export type Medium = 'sms' | 'email'

export type Messenger = {
  medium: Medium
  send(letter: OutboundMessage): Promise<Sent>
  close(): Promise<void>
}

export type MakeMessenger = (settings: MessengerSettings, tools: MessengerTools) => Messenger | undefined
// What the file has beside it, as `readSettings`: it throws what is wrong with them, and opens nothing.
export type ReadMessengerSettings = (settings: MessengerSettings, tools: MessengerTools) => unknown
export type MessengerSettings = Readonly<Record<string, string | undefined>>
export type MessengerTools = {
  clock?(): Date // what we reckon in; without it, this machine's
  receive(receipt: Receipt): void // the network tells later what became of a message
  warn(words: string): void // for the operator's log: what is out of order, never a recipient or a text
}

// What is sent. `id` stays the same however often it is tried.
export type OutboundMessage = {
  id: string
  to: string // an E.164 number or an email address
  text: string
  subject: string // of an email
  html: string // of an email
}

// `sent`: somebody else is responsible now. `later`: certainly not taken, or we cannot know; tried again. `never`: told
// that it is of no use.
export type Sent =
  | { state: 'sent'; provider_ref?: string }
  | { state: 'later'; words: string; afterMs?: number }
  | { state: 'never'; words: string }

export type Receipt = { provider_ref: string; state: 'delivered' | 'lost'; words: string }
