import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isClosed } from './access.ts'
import { EmbeddedError, explain } from './error.ts'
import { type DataFolder, openDataFolder } from './folder/dataFolder.ts'
import { type GatewayMark, readGatewayMarks, setGatewayMark } from './folder/gatewayMark.ts'
import { takeGuestLock } from './folder/guestLock.ts'
import { isAlive, type Postmaster, readPostmaster } from './folder/postmasterPid.ts'
import { initCluster } from './initCluster.ts'
import { closeCluster } from './keeper.ts'
import { launch, type Server, stopServer } from './server.ts'
import { reasonIn } from './serverLog.ts'
import { type Login, loginWith, urlOf } from './session.ts'
import { gatewayUser } from './user.ts'

export { EmbeddedError }

const patienceMs = 20_000 // with another command, or with a server on its way up or down
const retryMs = 100
const guestsMayStayMs = { gateway: 2000, command: 10_000 }

// A gateway runs for long and there is one per data folder; commands come and go, also beside it.
export type Role = 'gateway' | 'command'

export type Embedded = {
  url: string
  owner: boolean // false: a guest on the server of another Tollgate
  gateway(): Promise<number | undefined> // the process id of the gateway that runs on the data folder
  onExit(tell: (why: string) => void): void // when our server ends before stop() was called
  stop(): Promise<void>
}

// Runs a private PostgreSQL on a data folder, or joins the one that is running there. When root starts it, the members of
// one group may enter the folder of the socket: the group that a gateway names, which it will have itself, or the usual one.
export async function startEmbedded(dataDir: string, role: Role, group?: number): Promise<Embedded> {
  try {
    const home = openDataFolder(resolve(dataDir))
    await initCluster(home)
    return await ownOrJoin(home, role, group)
  } catch (error) {
    throw explain(error, resolve(dataDir))
  }
}

async function ownOrJoin(home: DataFolder, role: Role, group: number | undefined): Promise<Embedded> {
  const deadline = performance.now() + patienceMs
  for (;;) {
    const holder = readPostmaster(home.cluster)
    if (!holder?.alive) {
      const entering = home.runAs && (group ?? gatewayUser()?.gid)
      const server =
        (await closeCluster(home, holder?.pid)) && (await launch(home, holder?.pid, { group: entering }))
      if (server) return own(home, server, role)
    } else if (holder.ready && isClosed(home)) {
      const guest = role === 'command' ? await join(home, holder) : await refuseSecondGateway(home, holder)
      if (guest) return guest
    }
    if (performance.now() > deadline) throw await tired(home)
    await sleep(retryMs)
  }
}

async function own(home: DataFolder, server: Server, role: Role): Promise<Embedded> {
  const { program, sockets } = server
  let stopping: Promise<void> | undefined
  let sign: GatewayMark | undefined
  const stop = async () => {
    program.keepAwake(true)
    await sign?.takeDown()
    await stopServer(home, server, guestsMayStayMs[role])
    await program.tidied
  }
  const embedded: Embedded = {
    url: urlOf(sockets, home.password),
    owner: true,
    gateway: async () => (role === 'gateway' ? process.pid : undefined),
    onExit: tell =>
      void program.ended.then(how => {
        if (!stopping)
          tell(`PostgreSQL ended by itself (${how}): ${reasonIn(program.said()) ?? 'it gave no reason'}`)
      }),
    stop: () => (stopping ??= stop()),
  }
  try {
    if (role === 'gateway') sign = await setGatewayMark(sockets, loginWith(home.password))
    program.keepAwake(false)
    return embedded
  } catch (error) {
    await embedded.stop()
    throw error
  }
}

// Undefined when the server is not open to us just now: it is going, or its first start is not over.
async function join(
  { cluster, password }: DataFolder,
  { sockets }: Postmaster,
): Promise<Embedded | undefined> {
  const session = await takeGuestLock(sockets, loginWith(password)).catch(() => undefined)
  if (!session) return undefined
  const url = urlOf(sockets, password)
  const gateway = () => gatewayAt(sockets, loginWith(password))
  const embedded = { url, owner: false, gateway, onExit: () => {}, stop: () => session.close() }
  if (readPostmaster(cluster)?.ready) return embedded
  await embedded.stop() // the door was opened again by a server that has begun to stop
  return undefined
}

// A sign whose gateway is dead goes within moments, and its server with it.
async function refuseSecondGateway(home: DataFolder, { sockets }: Postmaster): Promise<undefined> {
  const gateway = await gatewayAt(sockets, loginWith(home.password))
  if (gateway !== undefined) throw inUse(home, gateway)
}

const gatewayAt = async (sockets: string, login: Login) =>
  (await readGatewayMarks(sockets, login).catch(() => [])).find(isAlive)

const otherPassword = ({ dataDir }: DataFolder, pid: number) =>
  new EmbeddedError(
    `The database in the data folder ${dataDir} is running (process ${pid}), but not with the password in ` +
      'postgres.pgpass: stop the Tollgate that runs it, and start again.',
  )

const inUse = ({ dataDir }: DataFolder, pid: number) =>
  new EmbeddedError(
    `Another Tollgate (process ${pid}) is already running on the data folder ${dataDir}. ` +
      'Stop it first, or choose another TOLLGATE_DATA_DIR.',
  )

async function tired(home: DataFolder): Promise<EmbeddedError> {
  const holder = readPostmaster(home.cluster)
  if (holder?.alive && !isClosed(home)) return otherPassword(home, holder.pid)
  const gateway = holder?.ready ? await gatewayAt(holder.sockets, loginWith(home.password)) : undefined
  if (gateway !== undefined) return inUse(home, gateway)
  return new EmbeddedError(
    `The database in ${home.cluster} is still in use by another Tollgate command, or busy starting or stopping, ` +
      `after ${patienceMs / 1000} seconds: wait for it and start again (${home.log} tells more).`,
  )
}
