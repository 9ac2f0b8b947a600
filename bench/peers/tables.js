// The columns of the sections with peers.
const whole = n => Math.round(n).toLocaleString('en')
const ms = (title, name) => [title, row => row[name].toFixed(1)]
const seconds = (title, name) => [title, row => (row[name] / 1000).toFixed(2)]
const worst = (title, name) => [title, row => whole(Math.max(...row.rounds.map(round => round[name])))]
const cpu = (title, name) => [title, row => whole(row.cpuUs[name])]
const rate = (title, name) => [title, row => whole(row[name])]

const used = [
  cpu('own', 'gateway'),
  cpu('brokers', 'brokers'),
  cpu('PostgreSQL', 'postgres'),
  ['all CPU us', row => whole(row.cpu)],
]
const counted = [worst('lost', 'lost'), worst('twice', 'twice')]
const refused = worst('refused', 'refused')
const times = [
  ms('p50 ms', 'p50'),
  ms('p99 ms', 'p99'),
  ms('sent p50', 'wholeP50'),
  ms('sent p99', 'wholeP99'),
  ms('worst ms', 'worst'),
]

export const peerTables = {
  peersBacklog: [rate('rate/s', 'rate'), ...used, ...counted],
  peersWhole: [rate('accepted/s', 'acceptedRate'), rate('told/s', 'rate'), ...used, refused, ...counted],
  peersTimes: [...times, ...used, refused, ...counted],
  peersHanging: [...times, refused, worst('lost', 'lost')],
  peersKilled: [seconds('on after s', 'onMs'), seconds('all after s', 'allMs'), ...counted],
}
