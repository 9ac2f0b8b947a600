import { setTimeout as sleep } from 'node:timers/promises'
import type { Fault } from './fault.ts'

export const killedNodes: Fault = {
  name: 'kill -9 of nodes',
  async inject({ installation: { nodes }, isLong, chance, servesAgain, say }) {
    for (let n = 0; n < (isLong ? 12 : 2); n++) {
      const node = chance.pick(nodes)
      say(`kills ${node.name}`)
      await node.kill()
      await Promise.all([servesAgain('serves after a kill', [node]), sleep(1000 + chance.random() * 1500)])
    }
  },
}

export const allNodesKilled: Fault = {
  name: 'kill -9 of all nodes at once',
  async inject({ installation: { nodes }, servesAgain }) {
    await Promise.all(nodes.map(node => node.kill()))
    await servesAgain('serves after a kill')
  },
}

export const stoppedNode: Fault = {
  name: 'SIGSTOP of a node',
  async inject({ installation: { nodes }, isLong, chance, servesAgain, say }) {
    const node = chance.pick(nodes)
    const pid = node.pid()
    if (!pid) return
    const seconds = isLong ? 90 : 5
    say(`stops ${node.name} for ${seconds} s`)
    process.kill(pid, 'SIGSTOP')
    try {
      await sleep(seconds * 1000)
    } finally {
      process.kill(pid, 'SIGCONT')
    }
    await servesAgain('serves after the fault', [node])
  },
}

export const nodeClocks: Fault = {
  name: 'clock jumps of nodes',
  async inject({ installation: { nodes }, chance, servesAgain }) {
    for (const node of nodes) node.setClock(chance.pick([-1, 1]) * (60 + chance.random() * 3540) * 1000)
    await sleep(4000)
    for (const node of nodes) node.setClock(0)
    await servesAgain('serves after the fault')
  },
}

const lacksOneServer = ({ database: { one } }: Parameters<NonNullable<Fault['needs']>>[0]) =>
  one ? undefined : 'a database of one server'

export const restartedDatabase: Fault = {
  name: 'immediate restart of PostgreSQL',
  needs: lacksOneServer,
  async inject({ installation: { database }, isLong, chance, servesAgain }) {
    for (let n = 0; n < (isLong ? 3 : 1); n++) {
      await database.one?.kill('SIGQUIT')
      await sleep(chance.random() * 1500)
      await database.one?.ensureRunning()
      await servesAgain('serves after the database accepts writes')
      await sleep(1000)
    }
  },
}

// A killed session makes PostgreSQL end all others and recover; a killed postmaster has to be started again.
export const killedDatabase: Fault = {
  name: 'kill -9 of processes of PostgreSQL',
  needs: lacksOneServer,
  async inject({ installation: { database }, isLong, chance, servesAgain, say }) {
    const { one } = database
    if (!one) return
    for (let n = 0; n < (isLong ? 4 : 2); n++) {
      const sessions = one.children()
      if (n % 2 === 0 && sessions.length > 0) {
        const victim = chance.pick(sessions)
        say(`kills the session ${victim}`)
        process.kill(victim, 'SIGKILL')
        await sleep(50)
      } else {
        say('kills the postmaster')
        await one.kill('SIGKILL')
      }
      await one.ensureRunning()
      await servesAgain('serves after the database accepts writes')
      await sleep(1000)
    }
  },
}
