import type { Currency } from '../core/money.ts'
import { sql, type Tx } from './db.ts'

// A charge at the simulated provider. `ending` is how it ends without a decision of the customer; `decided` is the ending
// that the customer has chosen, whose waiting times count from `decided_at`.
export type Charge = {
  merchant_id: string // the first characters of the reference
  reference: string
  method: string
  payer: string | null
  amount: bigint
  currency: Currency
  payee: string
  note: string | null
  ending: string
  callback_url: string
  return_url: string
  decided: string | null
  decided_at: Date | null
  card_type: string | null
  card_last4: string | null
  created_at: Date
}

export type NewCharge = Omit<Charge, 'merchant_id' | 'decided' | 'decided_at' | 'card_type' | 'card_last4'>
export type Card = { card_type: string; card_last4: string }

const merchantIdLength = 10
const merchantOf = (reference: string) => reference.slice(0, merchantIdLength)

// Undefined if the reference exists already: a repeated request makes no second charge.
export const insertCharge = (tx: Tx, c: NewCharge) =>
  tx.one<Charge>(sql`
    insert into sandbox_charges (merchant_id, reference, method, payer, amount, currency, payee, note, ending,
      callback_url, return_url, created_at)
    values (${merchantOf(c.reference)}, ${c.reference}, ${c.method}, ${c.payer}, ${c.amount}, ${c.currency},
      ${c.payee}, ${c.note}, ${c.ending}, ${c.callback_url}, ${c.return_url}, ${c.created_at})
    on conflict (merchant_id, reference) do nothing
    returning *`)

export const findCharge = (tx: Tx, reference: string) =>
  tx.one<Charge>(sql`
    select * from sandbox_charges where merchant_id = ${merchantOf(reference)} and reference = ${reference}`)

// Undefined if it was decided before: the first decision counts.
export const decideCharge = (tx: Tx, reference: string, decided: string, now: Date, card?: Card) =>
  tx.one<Charge>(sql`
    update sandbox_charges set decided = ${decided}, decided_at = ${now},
      card_type = coalesce(${card?.card_type ?? null}, card_type),
      card_last4 = coalesce(${card?.card_last4 ?? null}, card_last4)
    where merchant_id = ${merchantOf(reference)} and reference = ${reference} and decided is null
    returning *`)

// Stores the card before the decision.
export const showCard = (tx: Tx, reference: string, card: Card) =>
  tx.one<Charge>(sql`
    update sandbox_charges set card_type = ${card.card_type}, card_last4 = ${card.card_last4}
    where merchant_id = ${merchantOf(reference)} and reference = ${reference} and decided is null
    returning *`)

export const listUndecided = (tx: Tx, payer: string, since: Date, limit: number) =>
  tx.rows<Charge>(sql`
    select * from sandbox_charges
    where payer = ${payer} and created_at > ${since} and decided is null
    order by created_at desc limit ${limit}`)

// Of all payers. There is no index for it: only the test phone of a gateway for one machine reads it.
export const listAllUndecided = (tx: Tx, since: Date, limit: number) =>
  tx.rows<Charge>(sql`
    select * from sandbox_charges
    where created_at > ${since} and decided is null and ending = 'waits_for_person'
    order by created_at desc limit ${limit}`)
