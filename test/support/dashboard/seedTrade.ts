import { sql } from '../../../src/store/db.ts'
import type { TestGateway } from '../gateway/gateway.ts'
import { seedPayment } from './seedPayments.ts'

// A shop with weeks of trade in test mode, as a person sees it: payments of every method at two outlets, those that were not
// paid, a dispute, an hour of the operator's figures, a second node and a backup.

const hourMs = 3_600_000
const dayMs = 24 * hourMs

const methods = [
  'mtn_mobile_money',
  'mtn_mobile_money',
  'telecel_cash',
  'mtn_mobile_money',
  'card',
  'airteltigo_money',
  'ghqr',
] as const
const reasons = [
  'Not enough money in the account.',
  'The customer did not approve in time.',
  'Not enough money in the account.',
  'The customer declined.',
]
const numbers = ['+233241204567', '+233203317744', '+233551201208', '+233272269021', '+233594414410']
const names = ['Ama Boateng', 'Kwame Mensah', 'Efua Sarpong', 'Yaw Darko', 'Abena Asante']
// How many payments there are in each hour, from six in the morning.
const busy = [1, 2, 4, 5, 6, 7, 10, 8, 6, 5, 6, 8, 10, 8, 5, 2]

export async function seedTrade({ db }: Pick<TestGateway, 'db'>, merchant_id: string, now: Date) {
  await db.rows(sql`
    insert into outlets (merchant_id, code, name, created_at)
    values (${merchant_id}, 'OSU', 'Osu', ${now}), (${merchant_id}, 'TEMA', 'Tema, Community 1', ${now})
    on conflict do nothing`)
  const start = new Date(Math.floor(now.getTime() / dayMs) * dayMs)
  for (const daysAgo of [0, 1, 2, 3, 4, 5, 6, 7, 9, 11, 14, 17, 20, 24, 28])
    for (const at of timesOf(start.getTime() - daysAgo * dayMs, daysAgo === 0 || daysAgo === 7 ? 1 : 4))
      if (at < now.getTime() - 90_000) await addPayment(db, merchant_id, new Date(at), daysAgo)
}

const timesOf = (day: number, every: number) =>
  busy.flatMap((count, hour) =>
    Array.from({ length: Math.ceil(count / every) }, (_, n) =>
      Math.round(day + (6 + hour) * hourMs + ((n + 0.5) * every * hourMs) / count),
    ),
  )

let added = 0

async function addPayment(db: TestGateway['db'], merchant_id: string, at: Date, daysAgo: number) {
  const n = ++added
  const status = n % 11 === 5 ? 'failed' : n % 29 === 7 ? 'cancelled' : 'paid'
  const { tx_reference, attempt_id } = await seedPayment(db, {
    merchant_id,
    mode: 'test',
    at,
    status,
    reason: status === 'failed' ? reasons[n % 4] : status === 'cancelled' ? 'Cancelled by the customer.' : '',
    total: BigInt(1200 + ((n * 937) % 130) * 50),
    method: methods[n % methods.length],
    outlet: n % 3 === 1 ? 'TEMA' : 'OSU',
    invoice_id: `AK-${1000 + n}`,
    paidAfterMs: 14_000 + ((n * 71) % 40) * 1000,
    fee: BigInt(20 + ((n * 937) % 130)),
  })
  await db.rows(sql`
    update payments set number = ${numbers[n % 5]}, name = ${names[n % 5]} where merchant_id = ${merchant_id}
      and tx_reference = ${tx_reference}`)
  if (status !== 'paid' || daysAgo !== 1 || n % 10 !== 0) return
  await db.rows(sql`
    insert into disputes (merchant_id, attempt_id, dispute_id, tx_reference, state, amount, currency, due_at, opened_at)
    values (${merchant_id}, ${attempt_id}, ${`dp_${n}`}, ${tx_reference}, 'open', 6000, 'GHS',
      ${new Date(at.getTime() + 4 * dayMs)}, ${new Date(at.getTime() + 2 * hourMs)})`)
}

// An hour of payments as the nodes have counted it, a second node whose clock is off, and a backup of the last night.
export async function seedOperations({ db }: Pick<TestGateway, 'db'>, now: Date) {
  const ended = {
    'test sandbox mtn_mobile_money': { paid: 412, declined: 22, troubled: 3, paidSeconds: 8640 },
    'test sandbox card': { paid: 120, declined: 14, troubled: 1, paidSeconds: 4100 },
  }
  await db.rows(sql`
    insert into node_minutes (minute, node, started_live, started_test, counts)
    select date_trunc('minute', ${now}::timestamptz) - n * interval '1 minute', 'n1', 0,
      620 + (n * 37) % 80 - case when n between 14 and 17 then 300 else 0 end,
      jsonb_build_object('ended', ${JSON.stringify(ended)}::jsonb, 'refused', 0,
        'delays', '[0,10,40,300,200,40,5,0,0,0,0,0,0]'::jsonb)
    from generate_series(0, 59) n
    on conflict do nothing`)
  const backup = new Date(now.getTime() - 12 * hourMs)
  await db.rows(sql`
    insert into backups (backup_id, taken_at, finished_at, bytes, payments, is_encrypted, verified_at)
    values ('b1', ${backup}, ${new Date(backup.getTime() + 40_000)}, 48210400, 218400, true,
      ${new Date(backup.getTime() + 90_000)})`)
}
